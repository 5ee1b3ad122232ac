// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A way to a key that asks the person for a touch when the key waits for one.
///
/// Over HID the key says that it waits. A card can be silent while it waits, so there the commands that need a touch
/// are known by what they are.
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
        guard command == .cbor, let waiting = CTAPProtocol.waiting(for: payload) else { return nil }
        switch waiting {
        case .touch: return TouchPrompt.usual
        case .enrolment: return "put a finger on the key's sensor"
        case .fingerprint: return "put your finger on the key's sensor"
        }
    }

    func rest() { link.rest() }
    func close() { link.close() }
}
