// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO

extension Explain {
    /// Explains the status of a failed CTAP2 command: what it means, and what to do.
    package static func status(_ status: CTAPStatus, during command: String) -> Explanation {
        if status == .keepaliveCancel {
            return Explanation("cancelled", .interrupted, "the request was cancelled", hint: "repeat the command")
        }
        let refusal = Refusal.of(status)
        return Explanation(
            refusal.code, refusal.exit, "the key refused \(command): \(refusal.why), \(status)", hint: refusal.next)
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

        private static let report = "record it with --record FILE and report it"
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
