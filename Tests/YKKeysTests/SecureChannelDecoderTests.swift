// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCapture
import YKCrypto
import YKKeys
import YKSecureChannel
import YKTestSupport
import YKTransport
import YKWire

/// Recorded channels with a real key.
struct SecureChannelDecoderTests {
    private static func states(
        _ file: String, _ keys: SCP03Keys, _ change: (inout [Capture.Event]) -> Void = { _ in }
    ) throws -> [SecureChannelDecoder.Decoded] {
        var events = try Recordings.capture("scp/\(file)").events
        change(&events)
        var decoder = SecureChannelDecoder(keys)
        return events.map { decoder.decode($0) }
    }

    private static func factory() throws -> SCP03Keys {
        try SCP03Keys(
            text: Secret(utf8: "404142434445464748494a4b4c4d4e4f:404142434445464748494a4b4c4d4e4f"))
    }

    @Test(arguments: ["ykman-scp03-oath", "ykman-scp03-piv"])
    func decrypts(_ file: String) throws {
        let decoded = try Self.states(file, Self.factory())
        let states = decoded.compactMap(\.state)
        #expect(states.first == .open && states.contains(.verified))
        #expect(!states.contains(.notAuthentic) && !states.contains(.otherKeys))
        // What was decrypted is a plain command.
        for case .exchange(let command, _) in decoded.filter({ $0.state == .verified }).map(\.event.kind) {
            try expect(APDU(decoding: command).cla & 0x04, is: 0)
        }
    }

    @Test func needsTheKeys() throws {
        let other = try SCP03Keys(
            text: Secret(utf8: "404142434445464748494a4b4c4d4e4f:00000000000000000000000000000000"))
        let states = try Self.states("ykman-scp03-oath", other).compactMap(\.state)
        expect(states, is: [.otherKeys])
        expect(states.first?.description, is: "the channel was opened with other keys")
    }

    @Test func stopsAtForgedCommands() throws {
        let decoded = try Self.states("ykman-scp03-oath", Self.factory()) { events in
            let index = events.firstIndex {
                if case .exchange(let command, _) = $0.kind {
                    command[0] & 0x04 != 0 && command[1] != 0x82
                } else {
                    false
                }
            }
            guard let index, case .exchange(var command, let reply) = events[index].kind else { return }
            command[command.count - 2] ^= 1
            events[index] = Capture.Event(.exchange(command: command, reply: reply))
        }
        expect(decoded.compactMap(\.state), is: [.open, .notAuthentic])
    }

    @Test func startsAgainAfterSelection() throws {
        let decoded = try Self.states("ykman-scp03-oath", Self.factory()) { events in
            // The host gives up on a chain, and selects the application again.
            let selection = events.first {
                if case .exchange(let command, _) = $0.kind { command[1] == 0xA4 } else { false }
            }
            guard case .exchange(let select, let reply)? = selection?.kind else { return }
            events.append(Capture.Event(.exchange(command: [0x94, 1, 0, 0, 1, 0xAA, 0], reply: [0x90, 0])))
            events.append(Capture.Event(.exchange(command: select, reply: reply)))
            events.append(Capture.Event(.exchange(command: [0x84, 1, 0, 0, 1, 0xAA, 0], reply: [0x90, 0])))
        }
        expect(decoded.suffix(3).map(\.state), is: [.partOfCommand, nil, nil])
    }
}
