// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
import YKTransport
import YKWire

extension WebAuthnError: Explained {
    package var explanation: Explanation {
        switch self {
        case .json(let error): .malformed("the options are not JSON: \(error)")
        case .member(let member, let problem, _):
            .malformed(
                "\(member.printable): \(problem.printable)",
                hint: "the options are WebAuthn JSON, bare or under \"publicKey\"")
        case .origin(let text, let problem): .usage("'\(text.printable)' is not a valid origin: \(problem)")
        case .relyingParty(let id, let origin, let problem):
            Explanation(
                "other-relying-party", .policy,
                "\(origin.printable) is not allowed to use '\(id.printable)': \(problem)",
                hint: (problem == .publicSuffix ? Self.advice : nil)
                    ?? "a site can use only its own domain or a parent domain")
        case .noKnownAlgorithm:
            Explanation("not-supported", .notSupported, "the options allow no credential type that ykit supports")
        case .noneChosen: Explanation("none-chosen", .policy, "no account was chosen")
        case .key(let error): error.explanation
        }
    }

    private static var advice: String? {
        PublicSuffixList.newest.outdated(at: SystemClock().now)?.explanation.inOneLine
    }
}

extension OutdatedSuffixList: Explained {
    /// The newest list of the system and the program is used.
    package var explanation: Explanation {
        Explanation(
            "public-suffix", .policy, "\(title) is older than a year",
            hint: "update ykit, or: sudo apt install libpsl5 publicsuffix")
    }
}

extension VerificationProblem: Explained {
    package var explanation: Explanation {
        Explanation(
            "not-verified", .authentication, "verification failed: \(words)",
            hint: "do not trust it; 'ykit fido2 verify --help' lists what can be allowed")
    }

    var words: String {
        switch self {
        case .badSignature: "the signature does not match the key and the data"
        case .otherRelyingParty: "it was made for another relying party"
        case .noPresence: "the user was not present"
        case .noUserVerification: "the user was not verified"
        case .unsupportedAlgorithm(let algorithm):
            "\(algorithm.map(\.description) ?? "an unnamed algorithm") is not supported"
        case .weakAlgorithm(let algorithm): "\(algorithm) is too weak: it uses SHA-1"
        case .unsupportedFormat(let format): "attestation of format \(format.rawValue.printable) is not supported"
        case .malformedStatement(let what): "the attestation statement violates its format: \(what.printable)"
        case .certificate(let what): "the attestation certificate violates a requirement: \(what.printable)"
        case .untrusted: "the attestation does not chain to a trusted certificate"
        case .badKey(let what): "the public key cannot be used: \(what.printable)"
        }
    }
}
