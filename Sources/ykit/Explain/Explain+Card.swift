// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension Explain {
    static func card(_ error: CardError) -> Explanation {
        switch error {
        case .link(let error): link(error)
        case .appletMissing(let aid):
            Explanation(
                "application-missing", .notSupported, "this key has no \(aid) application, or it is switched off",
                hint: "ykit info shows what the key offers")
        case .status(let status, let command): self.status(status, during: command)
        case .malformed(let error, let command):
            Explanation(
                "malformed-reply", .malformed, "the key's reply to \(command) is not what the protocol says: \(error)",
                hint: "record it with --record FILE and report it")
        case .endlessReply(let command):
            Explanation(
                "endless-reply", .malformed, "the key announces more data for \(command) without end",
                hint: "record it with --record FILE and report it")
        case .tooLong(let command):
            Explanation("too-long", .notSupported, "\(command) does not fit what the card or the reader takes")
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

    /// A command APDU in a few words, its data left out.
    static func command(_ bytes: [UInt8]) -> String {
        guard let command = try? APDU(decoding: bytes) else { return "\(bytes.count) bytes that are not a command" }
        if command.ins == 0xA4, command.p1 == 0x04 {
            return "SELECT \(AID(rawValue: command.data).name ?? AID.known(command.data) ?? Hex.encode(command.data))"
        }
        let header = Hex.encode([command.cla, command.ins, command.p1, command.p2])
        return "\(header) with \(command.data.count) bytes of data"
    }
}

extension AID {
    /// The name of a listed application that these bytes select.
    static func known(_ bytes: [UInt8]) -> String? {
        [AID.oath, .fido, .otp, .management, .piv, .openPGP, .hsmAuth, .ndef, .canokeyAdmin]
            .first { $0.matches(bytes) }?.name
    }
}
