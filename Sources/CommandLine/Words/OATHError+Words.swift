// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKOATH
import YKTransport
import YKWire

extension OATHError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        switch self {
        case .writtenBefore(let id): Self.repeated(id, subject?.text)
        case .card(let error): error.explanation
        case .otherApplication:
            Explanation(
                "application-missing", .notSupported,
                "this key has no OATH application; it is a Nitrokey 3, whose codes are "
                    + "in its Secrets application",
                hint: "ykit secrets list; ykit secrets code NAME")
        case .wrongPassword:
            Explanation(
                "password-wrong", .authentication,
                "wrong password; OATH does not limit attempts, so no try is lost",
                hint:
                    "try again; a forgotten password can only be removed together with all accounts: 'ykit oath reset', "
                    + "on keys that have that command")
        case .emptyPassword:
            Explanation("password-empty", .authentication, "the password must not be empty")
        case .notAuthentic(let cause):
            Explanation(
                "not-authentic", .authentication, "the key did not prove that it knows the password: \(cause)",
                hint: "this may be an impostor; do not use the key until this is resolved")
        case .locked:
            Explanation(
                "password-needed", .authentication, "the accounts are locked with a password",
                hint: "give it with --password-stdin, --password-fd N or YKIT_OATH_PASSWORD, or store it with "
                    + "'ykit oath access remember'")
        case .noSuchAccount:
            Explanation("no-such-account", .notFound, "the key has no account with that name", hint: "ykit oath list")
        case .notApproved:
            Explanation(
                "not-approved", .policy, "the key does not accept accounts now",
                hint:
                    "a key of the FIPS series accepts them only after a password has been set: ykit oath access change")
        case .passwordRequired:
            Explanation(
                "not-allowed", .policy, "the password cannot be removed",
                hint: "a key of the FIPS series requires one; it can be changed, and 'ykit oath reset' removes it "
                    + "together with all accounts")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for another account",
                hint: "delete one: ykit oath delete NAME")
        case .unsupported(let feature, let needs, let has):
            Explanation(
                "not-supported", .notSupported,
                "\(feature.rawValue) is not supported by this key (needs \(needs), has \(has?.description ?? "another"))"
            )
        case .unfinished(let left, let cause): left.explanation(after: cause.explanation)
        case .touchTimeout: .notTouched
        case .damaged:
            Explanation(
                "damaged", .failed, "the key cannot read or write the memory of an account",
                hint: "find it with ykit oath calculate, delete it, and enroll it again with the service")
        case .crypto(let fault): fault.explanation
        case .nameTooLong(let bytes):
            Explanation(
                "name-too-long", .usage, "issuer, name and period have \(bytes) bytes together; at most 64 are allowed",
                hint: "shorten the issuer or the name")
        case .emptyName: .usage("the account has no name")
        case .emptySecret: .usage("the account has no secret")
        case .unsupportedDigits(let digits): .usage("codes of \(digits) digits are not supported, only 6 to 8")
        case .unsupportedKind(let type, let algorithm): .usage("\(type) with \(algorithm) is not supported")
        case .exists(let id):
            Explanation(
                "exists", .policy, "an account '\(id.text.printable)' already exists, and its secret would be lost",
                hint: "choose another name, or overwrite it with --force")
        case .nameCollides(let id, let other):
            Explanation(
                "name-collides", .policy,
                "the name '\(id.text.printable)' is a prefix of '\(other.text.printable)', which this firmware would overwrite",
                hint: "choose another name, or add it anyway with --force")
        case .touchNotApplied(let id):
            Explanation(
                "not-applied", .failed,
                "'\(id.text.printable)' is stored, but the key gives its codes without a touch",
                hint: "to remove it: ykit oath delete NAME")
        case .invalidURI(let cause): cause.explanation
        case .invalidMigration(let cause): cause.explanation
        case .invalidPSKC(let cause): cause.explanation
        }
    }

    /// Explains that the accounts to write contain a name twice; the first one is not overwritten, even with `--force`.
    ///
    /// - Parameter other: The place of the first account of that name.
    private static func repeated(_ id: OATHAccountID, _ other: String?) -> Explanation {
        Explanation(
            "exists", .policy,
            "another account '\(id.text.printable)' comes before it" + (other.map { " (\($0))" } ?? "")
                + ", and its secret would be lost",
            hint: "add it under another name: ykit oath add NAME")
    }
}

extension OATHStanding {
    fileprivate func explanation(after cause: Explanation) -> Explanation {
        switch self {
        case .oldRemains(let id):
            cause.unfinished(
                "the new account is stored, and the old one remains as '\(id.text.printable)'",
                hint: "delete it: ykit oath delete \(id.text.printable)")
        case .newIsNamed(let id):
            cause.unfinished(
                "the old account is deleted, and the new one is stored as '\(id.text.printable)'",
                hint: "ykit oath rename \(id.text.printable), or delete it and add the account again")
        case .copyRemains(let id):
            cause.unfinished(
                "the new account is stored, and a second time as '\(id.text.printable)'",
                hint: "delete that one: ykit oath delete \(id.text.printable)")
        case .unchecked(let id):
            cause.unfinished(
                "'\(id.text.printable)' is stored, but could not be checked for the touch it should require",
                hint: "ykit oath list")
        case .reset: cause.unfinished("all accounts and the password are deleted")
        }
    }
}

extension PSKCError: Explained {
    package var explanation: Explanation {
        switch self {
        case .malformed(let cause): .malformed("this key container cannot be read: \(cause)")
        case .field("CheckDigits", _):
            .malformed(
                "this key container cannot be used: the codes need a check digit, which keys do not append",
                hint: "ask for a container without CheckDigits")
        case .field(let name, ""):
            .malformed("this key container cannot be read: \(name) is missing or has an unknown value")
        case .field(let name, let value):
            .malformed("this key container cannot be read: \(name) is '\(value.printable)'")
        case .unsupportedAlgorithm(let name) where name.lowercased().hasSuffix("yubikey-aes"):
            .malformed(
                "this is the AES key of a Yubico OTP slot, not an OATH account", hint: "ykit otp --help")
        case .unsupportedAlgorithm(""):
            .malformed("the key container uses an algorithm that ykit does not support")
        case .unsupportedAlgorithm(let name):
            .malformed("the key container uses \(name.printable), which ykit does not support")
        case .cancelled: .interrupted
        case .needsKey: Explanation("file-locked", .authentication, "the key container is encrypted")
        case .wrongKey:
            Explanation("file-key-wrong", .authentication, "wrong passphrase or key, or the key container was changed")
        case .crypto(let fault): fault.explanation
        }
    }
}

extension MigrationError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notMigration: .malformed("this is not an otpauth-migration export")
        case .badBase64(let cause), .malformed(let cause):
            .malformed("this otpauth-migration export is damaged: \(cause)", hint: "export and scan it again")
        case .account(let place, let cause): .malformed("account \(place + 1) of the export cannot be used: \(cause)")
        }
    }
}

extension OtpauthError: Explained {
    package var explanation: Explanation {
        guard reason == .twoStep else { return .malformed("this is not a usable otpauth URI: \(self)") }
        return .malformed(
            "the secret is only the server's half; the other half must be generated here (two-step enrollment)",
            hint: "ykit approve open LINK, or --qr PICTURE, enrolls it")
    }
}
