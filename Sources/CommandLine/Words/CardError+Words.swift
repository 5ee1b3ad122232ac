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
        let (code, exit, hint) = Self.refusals[self] ?? ("refused", .failed, nil)
        return Explanation(code, exit, message, hint: hint, retriesLeft: self == .authenticationBlocked ? 0 : nil)
    }

    private static let refusals: [StatusWord: (code: String, exit: ExitStatus, hint: String?)] = [
        .securityStatusNotSatisfied: ("locked", .authentication, "give the password or PIN first"),
        .authenticationBlocked: ("blocked", .blocked, nil),
        .conditionsNotSatisfied: ("not-allowed", .policy, nil), .commandNotAllowed: ("not-allowed", .policy, nil),
        .functionNotSupported: ("not-supported", .notSupported, nil),
        .unknownInstruction: ("not-supported", .notSupported, nil),
        .unknownClass: ("not-supported", .notSupported, nil), .notFound: ("not-found", .notFound, nil),
        .recordNotFound: ("not-found", .notFound, nil), .referenceNotFound: ("not-found", .notFound, nil),
        .noSpace: ("full", .failed, "delete something first"),
    ]
}
