// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCapture
import YKProtocols
package import YKTransport
import YKWire

extension Explain {
    package static func card(_ error: CardError) -> Explanation {
        switch error {
        case .link(let error): link(error)
        case .appletMissing(let aid):
            Explanation(
                "application-missing", .notSupported, "this key has no \(aid.title) application, or it is switched off",
                hint: "ykit info shows what the key offers")
        case .status(let status, let command): self.status(status, during: command)
        case .malformed(let error, let command):
            Explanation(
                "malformed-reply", .malformed, "the key's reply to \(command) does not follow the protocol: \(error)",
                hint: "record it with --record FILE and report it")
        case .endlessReply(let command):
            Explanation(
                "endless-reply", .malformed, "the key announces more data for \(command) without end",
                hint: "record it with --record FILE and report it")
        case .tooLong(let command):
            Explanation("too-long", .notSupported, "\(command) does not fit what the card or the reader takes")
        case .secureChannel(let fault): secureChannel(fault)
        }
    }

    private static func status(_ status: StatusWord, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        if let tries = status.triesLeft {
            return Explanation("authentication", .authentication, message, retriesLeft: tries)
        }
        switch status {
        case .securityStatusNotSatisfied:
            return Explanation("locked", .authentication, message, hint: "give the password or PIN first")
        case .authenticationBlocked: return Explanation("blocked", .blocked, message, retriesLeft: 0)
        case .conditionsNotSatisfied, .commandNotAllowed: return Explanation("not-allowed", .policy, message)
        case .functionNotSupported, .unknownInstruction, .unknownClass:
            return Explanation("not-supported", .notSupported, message)
        case .notFound, .recordNotFound, .referenceNotFound:
            return Explanation("not-found", .notFound, message)
        case .noSpace: return Explanation("full", .failed, message, hint: "delete something first")
        default: return Explanation("refused", .failed, message)
        }
    }

    /// Describes a command APDU without its secrets. The application it was sent to is not known here: commands that
    /// need no selection come first, then OATH.
    package static func command(_ bytes: [UInt8]) -> String {
        var narrator = Narrator()
        let plain = narrator.narrate(command: bytes)
        if plain.isKnown { return plain.summary }
        let select = (try? APDU.select(.oath).encoded(.short)) ?? []
        _ = narrator.narrate(.init(.exchange(command: select, reply: [0x90, 0x00])))
        let oath = narrator.narrate(command: bytes)
        return oath.isKnown ? oath.summary : plain.summary
    }
}
