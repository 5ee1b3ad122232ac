// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKTransport
import YKWire

extension Explain {
    static func ctap(_ error: CTAPError) -> Explanation {
        switch error {
        case .link(let error): fidoLink(error)
        case .status(let status, let command): self.status(status, during: command)
        case .u2fStatus(let status, let command): u2f(status, during: command)
        case .malformed(let error, let command):
            Explanation(
                "malformed-reply", .malformed, "the key's answer to \(command) is not what the protocol says: \(error)",
                hint: "record it with --record FILE and report it")
        case .tooLong(let bytes, let limit, let command):
            Explanation(
                "too-long", .notSupported, "\(command) takes \(bytes) bytes, the key reads \(limit)",
                hint: "shorten the lists or the names in it")
        }
    }

    static func fidoLink(_ error: FIDOLinkError) -> Explanation {
        switch error {
        case .card(.appletMissing):
            Explanation(
                "application-missing", .notSupported, "this key has no FIDO application, or it is switched off",
                hint: "ykit info shows what the key offers")
        case .card(let error): card(error)
        case .device(let error): link(error)
        case .refused(let code): refused(code)
        case .notTouched: notTouched
        case .malformed(let error):
            Explanation(
                "malformed-reply", .malformed, "the key does not answer as CTAPHID says: \(error)",
                hint: "record it with --record FILE and report it")
        case .notCarried(let command):
            Explanation("not-supported", .notSupported, "\(command) cannot be done over this link")
        }
    }

    private static func refused(_ code: CTAPHID.ErrorCode) -> Explanation {
        switch code {
        case .channelBusy:
            Explanation(
                "busy", .busy, "the key is busy with another program",
                hint: "end the other request, touch the key if it blinks, then repeat the command")
        case .invalidCommand: Explanation("not-supported", .notSupported, "the key does not know this message")
        default:
            Explanation(
                "hid-refused", .failed, "the key refused the message: \(code)",
                hint: "take the key out, insert it again, and repeat the command")
        }
    }

    private static func status(_ status: CTAPStatus, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        switch status {
        case .invalidCommand, .invalidSubcommand, .unsupportedOption, .unsupportedAlgorithm, .invalidOption:
            return Explanation(
                "not-supported", .notSupported, message, hint: "ykit fido2 info shows what the key has")
        case .keepaliveCancel: return Explanation("cancelled", .interrupted, "the request was called off")
        case .timeout: return Explanation("timed-out", .timeOut, message, hint: "repeat the command")
        case .channelBusy, .operationPending:
            return Explanation("busy", .busy, message, hint: "end the other request, then repeat the command")
        case .pinAuthInvalid, .unauthorizedPermission:
            return Explanation(
                "proof-refused", .authentication, message,
                hint: "another program took the key over in the middle; repeat the command")
        case .fingerprintDatabaseFull, .largeBlobStorageFull:
            return Explanation("full", .failed, message, hint: "delete something first")
        case .limitExceeded, .requestTooLarge: return Explanation("too-long", .notSupported, message)
        case .invalidCredential: return Explanation("not-found", .notFound, message)
        default: return Explanation("refused", .failed, message)
        }
    }

    private static func u2f(_ status: StatusWord, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        switch status {
        case .conditionsNotSatisfied:
            return Explanation("not-touched", .timeOut, "the key was not touched in time", hint: "repeat the command")
        case .incorrectParameters:
            return Explanation("no-credentials", .notFound, "this is not a key handle of this key")
        case .unknownInstruction, .unknownClass, .functionNotSupported:
            return Explanation("not-supported", .notSupported, message)
        default: return Explanation("refused", .failed, message)
        }
    }

    // MARK: - Verification

    static func verification(_ problem: VerificationProblem) -> Explanation {
        Explanation("not-verified", .authentication, "it does not verify: \(words(problem))")
    }

    static func words(_ problem: VerificationProblem) -> String {
        switch problem {
        case .badSignature: "the signature does not fit the key and the data"
        case .otherRelyingParty: "it was made for another relying party"
        case .noPresence: "nobody was present"
        case .noUserVerification: "the user was not verified"
        case .unsupportedAlgorithm(let algorithm):
            "\(algorithm.map(\.description) ?? "an unnamed algorithm") cannot be checked here"
        case .weakAlgorithm(let algorithm): "\(algorithm) proves too little: it uses SHA-1"
        case .unsupportedFormat(let format): "attestation of format \(format.rawValue.printable) cannot be checked here"
        case .malformedStatement(let what): "the attestation statement is not what its format says: \(what.printable)"
        case .certificate(let what): "the attestation certificate breaks a rule: \(what.printable)"
        case .untrusted: "no trusted certificate vouches for it"
        case .badKey: "the public key cannot be used"
        }
    }
}
