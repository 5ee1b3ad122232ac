// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
import YKWire

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
