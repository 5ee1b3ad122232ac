// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKOpenPGP
import YKTransport
import YKWire

extension OpenPGPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(let error): error.explanation
        case .terminated:
            Explanation(
                "terminated", .failed, "the OpenPGP application is terminated: a reset was started and not finished",
                hint: "finish it: ykit openpgp reset")
        case .wrongPIN(let reference, let tries):
            Explanation(
                "pin-wrong", .authentication,
                "wrong \(reference.title)" + (tries.map { ", \(Tries.areLeft($0))" } ?? ""),
                retriesLeft: tries)
        case .blocked(let reference): reference.blocked
        case .userPINAdministers(let left):
            Explanation(
                left == 0 ? "pin-blocked" : "pin-wrong", left == 0 ? .blocked : .authentication,
                "this card has no admin PIN yet: the user PIN administers it, and "
                    + (left == 0 ? "is blocked" : "was wrong, \(Tries.areLeft(left))"),
                hint: left == 0
                    ? "only 'ykit openpgp reset' clears this; it deletes all keys"
                    : "give the user PIN as the admin PIN; ykit openpgp access change-admin-pin sets one",
                retriesLeft: left)
        case .derivationRequired:
            Explanation(
                "not-allowed", .policy, "the card accepts keys only with a key derivation for its PINs",
                hint: "ykit openpgp access set-kdf on")
        case .pinRequired(let reference):
            Explanation(
                "pin-required", .authentication, "the card requires the \(reference.title)",
                hint: "another program may have reset the card: repeat the command")
        case .badPINLength(let reference, let least, let most):
            Explanation(
                "pin-length", .usage, "the \(reference.title) must be \(least) to \(most) bytes long")
        case .refusedPIN(let reference):
            Explanation(
                "pin-refused", .policy, "the key's rules refuse this \(reference.title)",
                hint: "use 8 or more characters, not all the same, and not a common PIN")
        case .defaultPINs:
            Explanation(
                "not-allowed", .policy,
                "the key accepts keys only after the user PIN and the admin PIN have been changed",
                hint: "ykit openpgp access change-pin, ykit openpgp access change-admin-pin")
        case .unfinished(let standing, let cause): standing.explanation(after: cause)
        case .keyUnfinished(let slot, let isDeleted, let cause):
            Explanation("unfinished", .failed, cause.explanation.message)
                .unfinished(
                    "the \(slot) key is \(isDeleted ? "deleted" : "stored")"
                        + ", but the card has not updated its fingerprint",
                    hint: isDeleted ? "repeat the command" : "import it again, or generate another")
        case .keyLost(let slot, let cause):
            cause.explanation.unfinished(
                "the \(slot) slot holds no usable key now", hint: "import a key, or generate one")
        case .resetUnfinished(let isTerminated, let cause):
            cause.explanation.unfinished(
                isTerminated
                    ? "the application is terminated: the reset is started and not finished"
                    : "the reset is not complete, and tries of the user PIN and the admin PIN are used up",
                hint: "repeat the command: ykit openpgp reset")
        case .unchecked(let what, let cause):
            cause.explanation.unfinished(
                "\(what) is stored, but could not be checked", hint: "ykit openpgp info shows it")
        case .noKey(let slot):
            Explanation("no-key", .notFound, "the card has no \(slot) key", hint: "ykit openpgp keys generate \(slot)")
        case .noCertificate(let slot):
            Explanation("no-certificate", .notFound, "no certificate is stored for the \(slot) key")
        case .touchTimeout: .notTouched
        case .touchIsFixed(let slot):
            Explanation(
                "not-allowed", .policy, "the touch policy of the \(slot) key is fixed",
                hint: slot == .attestation
                    ? nil : "it can be changed after the key is replaced, or with 'ykit openpgp reset'")
        case .unsupported(let what): Explanation("not-supported", .notSupported, "this card does not support \(what)")
        case .unsupportedKey(let type, let slot):
            Explanation(
                "not-supported", .notSupported, "the card does not support \(type) for its \(slot) key",
                hint: "ykit openpgp info shows what the slots hold")
        case .unfit(let slot, let what):
            Explanation("not-supported", .notSupported, "the \(slot) key does not support \(what)")
        case .badInput(let words): .usage(words)
        case .notStored(let what):
            Explanation("not-stored", .failed, "the card did not store \(what) correctly")
        case .notAttestable(let slot):
            Explanation(
                "not-attestable", .policy, "the \(slot) key was not generated on this key, so it cannot be attested")
        case .wrongSignature(let slot):
            Explanation("wrong-signature", .failed, "the signature was not made by the \(slot) key")
        case .wrongFingerprint(let slot):
            Explanation(
                "wrong-fingerprint", .notFound, "the fingerprint on the card does not match its \(slot) key",
                hint:
                    "OpenPGP software finds keys by fingerprint: import the key again with its creation time (--created)"
            )
        case .notDecrypted: Explanation("not-decrypted", .failed, "the message is not encrypted to the decryption key")
        case .notBlocked(let user, let admin):
            Explanation(
                "not-blocked", .policy,
                "the card refuses the reset: wrong PINs do not use up its tries" + Self.retries(user, admin),
                hint: "ykit openpgp info shows the tries that are left")
        case .crypto(let fault): fault.explanation
        }
    }

    private static func retries(_ user: Int?, _ admin: Int?) -> String {
        let left = [user.map { "user PIN \($0)" }, admin.map { "admin PIN \($0)" }].compactMap(\.self)
        return left.isEmpty ? "" : " (\(left.listed()))"
    }
}

extension OpenPGPKDF.Reference {
    fileprivate var blocked: Explanation {
        let (words, hint) =
            switch self {
            case .user: ("the user PIN is blocked", "set a new one: ykit openpgp access unblock-pin")
            case .reset:
                (
                    "the reset code is blocked or not set",
                    "set it with the admin PIN: ykit openpgp access set-reset-code"
                )
            case .admin:
                ("the admin PIN is blocked", "only 'ykit openpgp reset' clears this; it deletes all keys")
            }
        return Explanation("pin-blocked", .blocked, words, hint: hint, retriesLeft: 0)
    }
}

extension OpenPGPStanding {
    /// What the card refused, and what holds now.
    func explanation(after cause: CardError) -> Explanation {
        var explanation = cause.explanation
        explanation.code = "unfinished"
        explanation.retriesLeft = nil
        explanation.message += "; the change is not complete: " + words
        explanation.hint = hint
        return explanation
    }

    private var words: String {
        let form =
            switch isHashed {
            case true?: "PINs are sent as hashes now, "
            case false?: "PINs are sent unhashed now, "
            case nil: ""
            }
        if user == .unknown, admin == .unknown { return form + "each PIN is the old or the new one" }
        return form + "the user PIN \(user.words("123456")), the admin PIN \(admin.words("12345678"))"
    }

    private var hint: String {
        switch (user, admin) {
        case (.initial, .initial): "ykit openpgp access change-pin, ykit openpgp access change-admin-pin"
        case (.initial, _): "ykit openpgp access change-pin"
        case (_, .initial): "ykit openpgp access change-admin-pin"
        case (_, .unusable) where isHashed == false: "only 'ykit openpgp reset' clears this; it deletes all keys"
        case (_, .unusable), (_, .unknown): "repeat the command, with the old admin PIN or the new one"
        case (.unusable, _): "ykit openpgp access unblock-pin sets the user PIN with the admin PIN"
        case (_, .old): "ykit openpgp access change-admin-pin"
        case (_, .new): "repeat the command"
        }
    }
}

extension OpenPGPStanding.PIN {
    fileprivate func words(_ initial: String) -> String {
        switch self {
        case .old: "is the old one"
        case .new: "is the new one"
        case .initial: "is \(initial)"
        case .unusable: "cannot be used"
        case .unknown: "is the old or the new one"
        }
    }
}
