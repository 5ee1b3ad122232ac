// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKInteraction
package import YKTransport

extension Stage {
    /// A stage of a test: what is written to `streams` is captured, and no other variables are seen.
    package static func test(
        person: any Person, streams: CapturedStreams, variables: [String: String] = [:],
        environment: ServiceEnvironment = .instant
    ) -> Stage {
        Stage(
            person: person, streams: streams.streams, variables: EnvironmentVariables { variables[$0] },
            environment: environment, alarm: Alarm { _, _ in {} })
    }
}

/// What a run of a test writes.
package final class CapturedStreams: Sendable {
    private let written = Mutex<[Streams.Stream: [UInt8]]>([:])

    package init() {}

    /// The results.
    package var output: String { text(.results) }
    /// The messages.
    package var errors: String { text(.messages) }

    private func text(_ stream: Streams.Stream) -> String {
        String(decoding: written.withLock { $0[stream] ?? [] }, as: UTF8.self)
    }

    fileprivate var streams: Streams {
        Streams(terminals: [], isInputTyped: false, size: { _ in nil }) { [self] bytes, stream in
            written.withLock { $0[stream, default: []] += bytes }
        }
    }
}
