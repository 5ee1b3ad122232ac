// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKFIDO
import YKWire

extension VerificationProblem: Explained {
    package var explanation: Explanation {
        Explanation(
            "not-verified", .authentication, "it does not verify: \(words)",
            hint: "do not trust it; 'ykit fido2 verify --help' tells what can be allowed")
    }

    package var words: String {
        switch self {
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
