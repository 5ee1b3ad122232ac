// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A way to a key that asks the person for a touch when the key waits for one.
///
/// Over HID the key says that it waits. A card can be silent while it waits, so there the commands that need a touch
/// are known by their first byte, and by their subcommand.
final class PromptingLink: FIDOLink {
    /// How long the key may wait before the person is told.
    static let patience = Duration.milliseconds(300)

    private let link: any FIDOLink
    private let terminal: Terminal

    init(_ link: sending any FIDOLink, _ terminal: Terminal) {
        self.link = link
        self.terminal = terminal
    }

    var environment: Environment { link.environment }
    var profile: FIDOLinkProfile { link.profile }
    var generation: Int { link.generation }
    var messages: Int { link.messages }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        let words = Self.words(command, payload)
        if profile.carrier == .card, let words {
            let prompt = TouchPrompt(terminal, words)
            defer { prompt.end() }
            return try link.call(command, payload, deadline: deadline, keepalive: keepalive)
        }
        let start = ContinuousClock.now
        var isSaid = false
        return try link.call(command, payload, deadline: deadline) { status in
            if status == .touchNeeded, !isSaid, start.duration(to: .now) >= Self.patience {
                isSaid = true
                terminal.say(words ?? TouchPrompt.usual)
            }
            keepalive(status)
        }
    }

    /// What to say while a message waits; `nil` for messages that never do.
    private static func words(_ command: CTAPHID.Command, _ payload: [UInt8]) -> String? {
        guard command == .cbor, let code = payload.first else { return nil }
        switch code {
        case 0x01, 0x02, 0x07, 0x0B: return TouchPrompt.usual
        case 0x09, 0x40: return "put a finger on the key's sensor"
        case 0x06 where subcommand(payload) == 6: return "put your finger on the key's sensor"
        default: return nil
        }
    }

    private static func subcommand(_ payload: [UInt8]) -> UInt64? {
        (try? CBOR(decoding: Array(payload.dropFirst())))?.map?[2]?.unsigned
    }

    func rest() { link.rest() }
    func close() { link.close() }
}
