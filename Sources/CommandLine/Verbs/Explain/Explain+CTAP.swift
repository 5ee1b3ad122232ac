// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
package import YKTransport
import YKWire

extension Explain {
    package static func ctap(_ error: CTAPError) -> Explanation {
        switch error {
        case .link(let error): fidoLink(error)
        case .status(let status, let command): self.status(status, during: command)
        case .u2fStatus(let status, let command): u2f(status, during: command)
        case .malformed(let error, let command):
            Explanation(
                "malformed-reply", .malformed, "the key's answer to \(command) does not follow the protocol: \(error)",
                hint: "record it with --record FILE and report it")
        case .tooLong(let bytes, let limit, let command):
            Explanation(
                "too-long", .notSupported, "\(command) takes \(bytes) bytes, the key reads \(limit)",
                hint: "shorten the lists or the names in it")
        }
    }

    package static func fidoLink(_ error: FIDOLinkError) -> Explanation {
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
            Explanation(
                "not-supported", .notSupported, "this link does not carry \(command)", hint: "try --link hid")
        }
    }

    private static func refused(_ code: CTAPHID.ErrorCode) -> Explanation {
        switch code {
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
                "hid-refused", .failed, "the key refused the message: \(code)",
                hint: "unplug the key, plug it in again, and repeat the command")
        }
    }

    private static func u2f(_ status: StatusWord, during command: String) -> Explanation {
        let message = "the key refused \(command): \(status)"
        switch status {
        case .conditionsNotSatisfied: return notTouched
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

    // MARK: - Verification

    package static func verification(_ problem: VerificationProblem) -> Explanation {
        Explanation(
            "not-verified", .authentication, "it does not verify: \(words(problem))",
            hint: "do not trust it; 'ykit fido2 verify --help' tells what can be allowed")
    }

    package static func words(_ problem: VerificationProblem) -> String {
        switch problem {
        case .badSignature: "the signature does not match the key and the data"
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
        case .pathsNeedOpenSSL:
            "certificates are checked with OpenSSL 3 (libcrypto.so.3), which is not installed"
        case .badKey(let what): "the public key cannot be used: \(what.printable)"
        }
    }
}
