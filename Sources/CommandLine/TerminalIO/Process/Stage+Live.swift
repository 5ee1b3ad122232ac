// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware
package import YKInteraction
import YKTransport

extension Stage {
    /// The stage of the process.
    package static var live: Stage {
        let variables = EnvironmentVariables { ProcessVariables[$0] }
        return Stage(
            person: TerminalPerson(variables), streams: .live, variables: variables,
            environment: ServiceEnvironment(cancellation: Interruption.cancellation), alarm: MainLoop.current.alarm)
    }
}

extension Streams {
    /// Standard output and standard error.
    fileprivate static var live: Streams {
        let terminals = [Stream.results, .messages].filter { isatty(descriptor($0)) == 1 }
        return Streams(
            terminals: Set(terminals), isInputTyped: isatty(0) == 1, size: { Descriptor.size(of: descriptor($0)) },
            write: { bytes, stream throws(Failure) in try Descriptor.write(bytes, to: descriptor(stream)) })
    }

    private static func descriptor(_ stream: Stream) -> Int32 { stream == .results ? 1 : 2 }
}

/// An open terminal, stream or file.
enum Descriptor {
    /// Writes all bytes.
    static func write(_ bytes: [UInt8], to descriptor: Int32) throws(Streams.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw count < 0 && errno == EPIPE ? .closed : .failed }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes text to a terminal, as far as it goes.
    static func show(_ text: String, on descriptor: Int32) {
        do throws(Streams.Failure) { try write(Array(text.utf8), to: descriptor) } catch {}
    }

    /// The size of a terminal; `nil` for anything else.
    static func size(of descriptor: Int32) -> Streams.Size? {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return Streams.Size(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }
}
