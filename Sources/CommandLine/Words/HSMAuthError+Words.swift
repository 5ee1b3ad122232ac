// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKHSMAuth

extension HSMAuthError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let error): error.explanation
        case .wrongManagementKey(let tries):
            Explanation(
                "management-password-wrong", .authentication, "wrong management password, \(Tries.areLeft(tries))",
                retriesLeft: tries)
        case .wrongPassword(let label, let tries):
            Explanation(
                "password-wrong", .authentication,
                "wrong password for '\(label.text.printable)'; \(Tries.areLeft(tries)), "
                    + "then the key deletes the credential",
                retriesLeft: tries)
        case .credentialLost(let label):
            Explanation(
                "credential-lost", .blocked,
                "wrong password; that was the last try, and the key deleted '\(label.text.printable)'",
                hint: "add it again: ykit hsmauth add LABEL", retriesLeft: 0)
        case .managementKeyBlocked:
            Explanation(
                "management-password-blocked", .blocked, "the management password is blocked",
                hint: "credentials can still be used; to change them, 'ykit hsmauth reset' deletes all of them",
                retriesLeft: 0)
        case .noSuchCredential(let label):
            Explanation(
                "no-such-credential", .notFound, "the key has no credential '\(label.text.printable)'",
                hint: "ykit hsmauth list")
        case .credentialExists(let label):
            Explanation(
                "exists", .policy, "the key already has a credential '\(label.text.printable)'",
                hint: "choose another label, or delete it first: ykit hsmauth delete LABEL")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for another credential",
                hint: "delete one: ykit hsmauth delete LABEL")
        case .touchTimeout: .notTouched
        case .notAuthentic:
            Explanation(
                "not-authentic", .authentication,
                "the HSM did not prove that it has the keys that match the credential",
                hint: "compare the credential with the HSM's authentication key, and do not use the session")
        case .noChallenge:
            Explanation("no-challenge", .policy, "the key has no challenge pending for this credential")
        case .refusedByPolicy:
            Explanation(
                "not-allowed", .policy, "the key refuses this password or key",
                hint: "a key of the FIPS series requires a new management password first: "
                    + "ykit hsmauth change-management-password")
        case .notAsymmetric(let label):
            Explanation(
                "not-supported", .notSupported,
                "'\(label.text.printable)' has no public key: it is not a p256 credential"
            )
        case .unsupported(let feature, let has):
            Explanation(
                "not-supported", .notSupported,
                "\(feature.rawValue) requires firmware \(feature.firstVersion), this key has \(has)")
        case .badLabel(let bytes): .usage("a label must have 1 to 64 bytes, this one has \(bytes)")
        case .passwordTooLong(let bytes): .usage("a password must have at most 16 bytes, this one has \(bytes)")
        case .badKeyLength(let bytes): .usage("the keys must be \(bytes) bytes long")
        case .badContext(let words): .usage(words)
        case .crypto(let fault): fault.explanation
        }
    }
}
