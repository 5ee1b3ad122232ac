// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
package import YKTransport
import YKWire

extension CTAPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .link(let error): error.explanation
        case .status(let status, let command): status.explanation(during: command)
        case .u2fStatus(let status, let command): u2f(status, during: command)
        case .malformed(let error, let command):
            .malformedReply("the key's answer to \(command) does not follow the protocol: \(error)")
        case .tooLong(let bytes, let limit, let command):
            Explanation(
                "too-long", .notSupported, "\(command) takes \(bytes) bytes, the key reads \(limit)",
                hint: "shorten the lists or the names in it")
        }
    }
}

extension FIDOLinkError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(.appletMissing):
            Explanation(
                "application-missing", .notSupported, "this key has no FIDO application, or it is switched off",
                hint: "ykit info shows what the key offers")
        case .card(let error): error.explanation
        case .device(let error): error.explanation
        case .refused(let code): code.explanation
        case .notTouched: .notTouched
        case .malformed(let error):
            .malformedReply("the key does not answer as CTAPHID says: \(error)")
        case .notCarried(let command):
            Explanation(
                "not-supported", .notSupported, "this link does not carry \(command)", hint: "try --link hid")
        }
    }
}

extension CTAPHID.ErrorCode {
    package var explanation: Explanation {
        switch self {
        case .channelBusy:
            Explanation(
                "busy", .busy, "the key is busy with another program",
                hint: "end the other request, touch the key if it blinks, then repeat the command")
        case .invalidCommand:
            Explanation(
                "not-supported", .notSupported, "the key does not support this message",
                hint: "ykit fido2 info shows what it has")
        default:
            Explanation(
                "hid-refused", .failed, "the key refused the message: \(self)",
                hint: "unplug the key, plug it in again, and repeat the command")
        }
    }
}

extension CTAPError {
    private func u2f(_ status: StatusWord, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        switch status {
        case .conditionsNotSatisfied: return .notTouched
        case .incorrectParameters, .wrongLength:
            return Explanation(
                "no-credentials", .notFound, "this is not a key handle of this key",
                hint: "use the key that was registered, and the application that it was registered for")
        case .unknownInstruction, .unknownClass, .functionNotSupported, .commandNotAllowed:
            return Explanation(
                "not-supported", .notSupported, message,
                hint: "U2F may be switched off, or not be there: ykit fido2 info shows what the key has")
        default:
            return Explanation(
                "refused", .failed, message, hint: "unplug the key, plug it in again, and repeat the command")
        }
    }
}

extension CTAPStatus {
    /// Explains the status of a failed CTAP2 command: what it means, and what to do.
    package func explanation(during command: String) -> Explanation {
        if self == .keepaliveCancel {
            return Explanation("cancelled", .interrupted, "the request was cancelled", hint: "repeat the command")
        }
        let refusal = Refusal.of(self)
        return Explanation(
            refusal.code, refusal.exit, "the key refused \(command): \(refusal.why), \(self)", hint: refusal.next)
    }

    /// The message and hint for a status.
    private struct Refusal {
        let code: String
        let exit: ExitStatus
        let why: String
        let next: String

        init(_ code: String, _ exit: ExitStatus, _ why: String, _ next: String) {
            (self.code, self.exit, self.why, self.next) = (code, exit, why, next)
        }

        static func of(_ status: CTAPStatus) -> Refusal {
            if let known = all[status] { return known }
            if status.isOfVendor { return ofVendor }
            return Refusal(
                "refused", .failed, status.isOfExtension ? "an extension could not be done" : "it does not say why",
                status.isOfExtension ? "omit the extension, or give it another input" : report)
        }

        /// CanoKey answers unknown commands with F1.
        private static let ofVendor = Refusal(
            "refused", .failed, "for a reason of its maker's, often that it does not have the command", list)

        private static let report = Explanation.recordAndReport
        private static let list = "ykit fido2 info shows what the key has"
        private static let again = "repeat the command"
        private static let insert = "unplug the key, plug it in again, and repeat the command"
        private static let shorten = "shorten the names, the lists or the blob in it"

        private static func notSupported(_ why: String) -> Refusal { .init("not-supported", .notSupported, why, list) }
        private static func misread(_ why: String) -> Refusal { .init("refused", .failed, why, report) }
        private static func tooLong(_ why: String) -> Refusal { .init("too-long", .notSupported, why, shorten) }
        private static func busy(_ why: String) -> Refusal {
            .init("busy", .busy, why, "end the other request, touch the key if it blinks, then repeat the command")
        }
        private static func proof(_ why: String) -> Refusal { .init("proof-refused", .authentication, why, again) }

        private static let all: [CTAPStatus: Refusal] = [
            .invalidCommand: notSupported("it does not have the command"),
            .invalidSubcommand: notSupported("it does not have the subcommand"),
            .unsupportedOption: notSupported("it does not have an option of the request"),
            .invalidOption: notSupported("an option of the request cannot be used here"),
            .unsupportedAlgorithm: notSupported("it supports none of the requested algorithms"),
            .unsupportedExtension: notSupported("it does not have an extension of the request"),
            .invalidParameter: misread("a value in the request is invalid"),
            .invalidLength: misread("the length of the request is invalid"),
            .invalidSequence: misread("a part of the request came out of order"),
            .cborUnexpectedType: misread("a value in the request has the wrong type"),
            .invalidCBOR: misread("it cannot read the request"),
            .missingParameter: misread("a value is missing from the request"),
            .limitExceeded: tooLong("something in the request exceeds its limits"),
            .requestTooLarge: tooLong("the request is too long"),
            .timeout: .init("timed-out", .timeOut, "the request did not come in time", again),
            .channelBusy: busy("it is busy with another program"),
            .operationPending: busy("another operation has not ended"),
            .processing: busy("it is processing another request"),
            .userActionPending: busy("it is waiting for its user already"),
            .lockRequired: busy("it is locked by another program"),
            .invalidChannel: .init("refused", .failed, "it no longer knows the channel of this program", again),
            .noOperations: .init("refused", .failed, "it has nothing to continue", again),
            .pinAuthInvalid: proof("its PIN token is no longer valid, as when another program uses the key"),
            .pinTokenExpired: proof("its PIN token has expired"),
            .unauthorizedPermission: proof("its PIN token does not permit this"),
            .userPresenceRequired: .init("touch-needed", .policy, "it requires a touch for this", "allow a touch"),
            .fingerprintDatabaseFull: .init(
                "full", .failed, "there is no room for another fingerprint",
                "delete one: ykit fido2 fingerprints delete NAME"),
            .largeBlobStorageFull: .init(
                "full", .failed, "there is no room for the large blobs",
                "ykit fido2 large-blob prune removes blobs that belong to no credential"),
            .invalidCredential: .init(
                "not-found", .notFound, "the credential is not on this key", "ykit fido2 credentials list"),
            .integrityFailure: .init("refused", .failed, "its stored data are damaged", insert),
            .other: .init("refused", .failed, "it does not say why", insert),
        ]
    }
}
