// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKAttestation

extension AttestationError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let file = subject?.text.fileName ?? "the input"
        switch self {
        case .unrecognized:
            return Explanation(
                "malformed", .malformed, "\(file) has no attestation, certificate or request",
                hint: "'ykit attest verify --help' lists the forms")
        case .unsupported(let name):
            return Explanation("not-supported", .notSupported, "\(file): '\(name.printable)' is not supported")
        case .malformed(let what): return .malformed("\(file) is malformed: \(what.printable)")
        case .severalKeys:
            return .usage(
                "\(file) contains several keys, certificates or requests and does not say which one to use",
                hint: "put the one to use into a separate file")
        case .requirement(let text):
            return .usage(
                "--require does not know '\(text.printable)'", hint: "conditions: \(AttestationRequirement.forms)")
        }
    }
}

extension AttestationFinding: Explained {
    package var explanation: Explanation {
        if case .chain(let problem) = self { return problem.explanation }
        return Explanation(code, exit, words, hint: hint)
    }

    private var exit: ExitStatus {
        switch result {
        case .proven: .done
        case .mismatch, .notRooted, .unchecked: .authentication
        case .software, .imported, .compromised, .unmet: .policy
        case .unsupported: .notSupported
        case .malformed: .malformed
        }
    }

    private var code: String {
        switch result {
        case .proven, .unchecked: "not-checked"
        case .mismatch: "attestation-mismatch"
        case .notRooted: "not-vouched"
        case .software: "not-attested"
        case .imported: "imported"
        case .compromised: "compromised"
        case .unmet: "requirement-not-met"
        case .unsupported: "not-supported"
        case .malformed: "malformed"
        }
    }

    private var hint: String? {
        switch self {
        case .noDevice: "add the file of the certificate in f9, or of the OpenPGP attestation key"
        case .noChallenge, .noAnswer: "give the challenge that was answered with --challenge or --challenge-file"
        case .otherSerial, .otherCardKey, .otherSlot:
            "the statement comes from another key; do not trust what this card returns"
        case .notSignedByDevice, .chain, .otherKey, .notExpectedKey, .otherApplication, .wrongSignature,
            .otherChallenge, .notComparable, .noStatement, .selfSigned, .imported, .status, .unknownModel, .unmet,
            .unsupported, .malformed, .fido:
            nil
        }
    }

    private var words: String {
        switch self {
        case .notSignedByDevice: "another key signed the attestation than the one that should have"
        case .noDevice: "the certificate of the key that signed the attestation is missing"
        case .chain(let problem): problem.explanation.message
        case .otherKey: "the attestation in it is for another key"
        case .notExpectedKey: "the attestation is for another key than the one given with --for"
        case .otherApplication: "the attestation is for another application or relying party"
        case .wrongSignature: "the attested key did not make the signature"
        case .otherChallenge: "it does not answer this challenge"
        case .noAnswer: "there is no signature over the challenge"
        case .noChallenge: "the signature cannot be verified without its challenge"
        case .otherSlot(let slot): "the attestation is for slot \(slot.printable)"
        case .otherSerial(let serial): "the attestation is for the key with serial number \(serial)"
        case .otherCardKey: "the attestation is for another key than the one in the slot"
        case .notComparable: "the key in the attestation has an unknown type and cannot be compared with the card's"
        case .noStatement: "nothing in it attests where the key is"
        case .selfSigned: "only the key itself attests where it is"
        case .imported: "the key was imported: it exists outside the security key too"
        case .status(let status): "the FIDO Alliance reports about this model: \(status.printable)"
        case .unknownModel: "the model is not in the metadata list"
        case .unmet(let requirement, let found):
            "required \(requirement.description.printable), the attestation says "
                + (found.map { "'\($0.printable)'" } ?? "nothing about it")
        case .unsupported(let what): "\(what.printable) is not supported"
        case .malformed(let what): "the attestation is malformed: \(what.printable)"
        case .fido(let problem): problem.words
        }
    }
}
