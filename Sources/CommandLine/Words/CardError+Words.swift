// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCapture
import YKProtocols
package import YKTransport
import YKWire

extension CardError: Explained {
    package var explanation: Explanation {
        switch self {
        case .link(let error): error.explanation
        case .appletMissing(let aid):
            Explanation(
                "application-missing", .notSupported, "this key has no \(aid.title) application, or it is disabled",
                hint: "ykit info shows what the key offers")
        case .status(let status, let command): status.explanation(during: command)
        case .malformed(let error, let command):
            .malformedReply("the key's reply to \(command) violates the protocol: \(error)")
        case .endlessReply(let command):
            Explanation(
                "endless-reply", .malformed, "the key keeps announcing more data for \(command)",
                hint: Explanation.recordAndReport)
        case .tooLong(let command):
            Explanation("too-long", .notSupported, "\(command) is too long for the card or the reader")
        case .secureChannel(let fault): fault.explanation
        }
    }
}

extension StatusWord {
    package func explanation(during command: String) -> Explanation {
        let message = "the key refused \(command): \(self)"
        if let tries = triesLeft {
            return Explanation("authentication", .authentication, message, retriesLeft: tries)
        }
        switch self {
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
}
