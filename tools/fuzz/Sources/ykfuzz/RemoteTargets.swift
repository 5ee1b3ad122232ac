// SPDX-License-Identifier: Apache-2.0

import YKBridge
import YKInteraction
import YKWire

extension FuzzTarget {
    static let remote: [FuzzTarget] = [
        // A far end's stream, to the decision about each request.
        FuzzTarget(name: "remote-frames") { bytes in
            var reader = RemoteFrameReader(skipsNoise: true)
            reader.add(bytes)
            while let frame = try? reader.next() {
                var again = RemoteFrameReader(skipsNoise: false)
                again.add(RemoteFrame.greeting + frame.encoded)
                guard let same = try? again.next() else { fatalError("a frame cannot be read again") }
                // Texts may be cut in the middle of a character, which is replaced by a longer one.
                if case .request = frame { require(same == frame, "a request changes when it is sent again") }
                if case .request(_, let message) = frame { decide(message) }
            }
        },
        FuzzTarget(name: "remote-request") { decide($0) },
    ]

    /// What reaches the key is never more than what a policy allows.
    private static func decide(_ message: [UInt8]) {
        guard let request = try? RemoteRequest(message) else { return }
        let decision = RemotePolicy().decision(on: request)
        switch request.action {
        case .probe, .forbidden:
            if case .proceed = decision { fatalError("a request is passed on that is not allowed") }
        case .register(let ceremony), .signIn(let ceremony):
            guard RemotePolicy.isLocal(ceremony.rpID) else { return }
            if case .proceed = decision { fatalError("a local relying party is allowed") }
        case .next, .select, .read: break
        }
    }
}
