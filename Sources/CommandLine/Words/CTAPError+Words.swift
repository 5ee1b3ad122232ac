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
            .malformedReply("the key's answer to \(command) violates the protocol: \(error)")
        case .tooLong(let bytes, let limit, let command):
            Explanation(
                "too-long", .notSupported, "\(command) has \(bytes) bytes; the key accepts at most \(limit)",
                hint: "shorten the lists or the names in it")
        }
    }
}

extension FIDOLinkError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(.appletMissing):
            Explanation(
                "application-missing", .notSupported, "this key has no FIDO application, or it is disabled",
                hint: "ykit info shows what the key offers")
        case .card(let error): error.explanation
        case .device(let error): error.explanation
        case .refused(let code): code.explanation
        case .notTouched: .notTouched
        case .malformed(let error):
            .malformedReply("the key's reply violates CTAPHID: \(error)")
        case .notCarried(let command):
            Explanation(
                "not-supported", .notSupported, "this interface does not support \(command)", hint: "try --link hid")
        }
    }
}

extension CTAPHID.ErrorCode {
    fileprivate var explanation: Explanation {
        if self == .channelBusy {
            return Explanation(
                "busy", .busy, "the key is in use by another program",
                hint: "finish the other request (touch the key if it blinks), then repeat the command")
        }
        if self == .invalidCommand {
            return Explanation(
                "not-supported", .notSupported, "the key does not support this message",
                hint: "ykit fido2 info shows what it supports")
        }
        return Explanation(
            "hid-refused", .failed, "the key refused the message: \(self)",
            hint: "re-insert the key and repeat the command")
    }
}

extension CTAPError {
    private func u2f(_ status: StatusWord, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        if status == .conditionsNotSatisfied { return .notTouched }
        if [.incorrectParameters, .wrongLength].contains(status) {
            return Explanation(
                "no-credentials", .notFound, "the key handle does not belong to this key",
                hint: "use the key and the application that were registered")
        }
        if [.unknownInstruction, .unknownClass, .functionNotSupported, .commandNotAllowed].contains(status) {
            return Explanation(
                "not-supported", .notSupported, message,
                hint: "U2F may be disabled or missing: ykit fido2 info shows what the key supports")
        }
        return Explanation("refused", .failed, message, hint: "re-insert the key and repeat the command")
    }
}

extension CTAPStatus {
    /// Explains the status of a failed CTAP2 command: what it means, and what to do.
    func explanation(during command: String) -> Explanation {
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
                "refused", .failed, status.isOfExtension ? "an extension failed" : "it gives no reason",
                status.isOfExtension ? "omit the extension, or change its input" : report)
        }

        /// CanoKey answers unknown commands with F1.
        private static let ofVendor = Refusal(
            "refused", .failed, "vendor-specific error, often an unsupported command", list)

        private static let report = Explanation.recordAndReport
        private static let list = "ykit fido2 info shows what the key supports"
        private static let again = "repeat the command"
        private static let insert = "re-insert the key and repeat the command"
        private static let shorten = "shorten the names, the lists or the blob in it"

        private static func notSupported(_ why: String) -> Refusal { .init("not-supported", .notSupported, why, list) }
        private static func misread(_ why: String) -> Refusal { .init("refused", .failed, why, report) }
        private static func tooLong(_ why: String) -> Refusal { .init("too-long", .notSupported, why, shorten) }
        private static func busy(_ why: String) -> Refusal {
            .init("busy", .busy, why, "finish the other request (touch the key if it blinks), then repeat the command")
        }
        private static func proof(_ why: String) -> Refusal { .init("proof-refused", .authentication, why, again) }

        private static let all: [CTAPStatus: Refusal] = [
            .invalidCommand: notSupported("it does not support the command"),
            .invalidSubcommand: notSupported("it does not support the subcommand"),
            .unsupportedOption: notSupported("it does not support an option of the request"),
            .invalidOption: notSupported("an option of the request cannot be used here"),
            .unsupportedAlgorithm: notSupported("it supports none of the requested algorithms"),
            .unsupportedExtension: notSupported("it does not support an extension of the request"),
            .invalidParameter: misread("a value in the request is invalid"),
            .invalidLength: misread("the length of the request is invalid"),
            .invalidSequence: misread("a part of the request arrived out of order"),
            .cborUnexpectedType: misread("a value in the request has the wrong type"),
            .invalidCBOR: misread("it cannot read the request"),
            .missingParameter: misread("a value is missing from the request"),
            .limitExceeded: tooLong("something in the request exceeds its limits"),
            .requestTooLarge: tooLong("the request is too long"),
            .timeout: .init("timed-out", .timeOut, "the request did not arrive in time", again),
            .channelBusy: busy("it is busy with another program"),
            .operationPending: busy("another operation is still running"),
            .processing: busy("it is processing another request"),
            .userActionPending: busy("it is already waiting for its user"),
            .lockRequired: busy("it is locked by another program"),
            .invalidChannel: .init("refused", .failed, "it has closed this program's channel", again),
            .noOperations: .init("refused", .failed, "it has nothing to continue", again),
            .pinAuthInvalid: proof("its PIN token is no longer valid, which happens when another program uses the key"),
            .pinTokenExpired: proof("its PIN token has expired"),
            .unauthorizedPermission: proof("its PIN token does not permit this"),
            .userPresenceRequired: .init(
                "touch-needed", .policy, "it requires a touch for this", "repeat the command without --no-touch"),
            .fingerprintDatabaseFull: .init(
                "full", .failed, "the key has no room for another fingerprint",
                "delete one: ykit fido2 fingerprints delete NAME"),
            .largeBlobStorageFull: .init(
                "full", .failed, "the key has no room for the large blobs",
                "ykit fido2 large-blob prune removes blobs that belong to no credential"),
            .invalidCredential: .init(
                "not-found", .notFound, "the credential is not on this key", "ykit fido2 credentials list"),
            .integrityFailure: .init("refused", .failed, "its stored data is damaged", insert),
            .other: .init("refused", .failed, "it gives no reason", insert),
        ]
    }
}
