// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCTKIP
package import YKSecurID
package import YKStore

extension Explain {
    /// The token has a password, and there is no terminal to ask for it.
    package static let tokenPasswordNeeded = Explanation(
        "password-needed", .authentication, "the token is protected with a password",
        hint: "give it with --password-stdin, --password-fd N or YKIT_SECURID_PASSWORD")

    static func securID(_ error: SecurIDError) -> Explanation {
        switch error {
        case .format(let reason):
            Explanation(
                "format", .malformed, "this is not a token in a known form: \(reason.printable)",
                hint: "known are SDTID files, token strings and links, .stokenrc and pictures with QR codes")
        case .xml(let error): Explanation("format", .malformed, "the XML cannot be read: \(error)")
        case .field(let name): Explanation("format", .malformed, "\(name.printable) is missing or outside its range")
        case .checksum:
            Explanation(
                "checksum", .malformed, "the checksum is wrong: a character of the token is wrong or missing",
                hint: "copy it again, whole")
        case .mac(let what):
            Explanation(
                "mac", .malformed, "the file was changed: the authentication code of its \(what.printable) is wrong")
        case .passwordNeeded: tokenPasswordNeeded
        case .wrongPassword: Explanation("wrong-password", .authentication, "the password of the token is wrong")
        case .deviceNeeded:
            Explanation(
                "device-needed", .authentication, "the token is bound to a device",
                hint:
                    "give the identifier it was issued for with --device-id; 'ykit securid binding-id' shows this one's"
            )
        case .wrongDevice:
            Explanation(
                "wrong-device", .authentication, "the token is bound to another device identifier",
                hint: "ask for a token for this one: ykit securid binding-id")
        case .boundElsewhere(let serial, let device):
            Explanation(
                "bound-elsewhere", .policy, "token \(serial.printable) is bound to the device \(device.printable)",
                hint: "ask for a token for this one: ykit securid binding-id")
        case .expired(let serial, let date):
            Explanation(
                "expired", .policy, "token \(serial.printable) expired on \(date)",
                hint: "ask for a new one; --allow-expired uses it all the same")
        case .pin(let rule): tokenPIN(rule)
        case .severalTokens(let serials): severalTokens(serials)
        case .noSuchToken(let serial):
            Explanation("no-such-token", .notFound, "the file has no token \(serial.printable)")
        case .tooLong(let what, let limit): Explanation("too-long", .malformed, "the \(what) is longer than \(limit)")
        case .activationCode:
            Explanation("activation-code", .usage, "an activation code consists of letters and digits")
        case .crypto(let fault): Explanation("crypto", .failed, "\(fault)")
        case .random: Explanation("random", .failed, "the system gave no random bytes")
        }
    }

    private static func severalTokens(_ serials: [String]) -> Explanation {
        var explanation = Explanation(
            "several-tokens", .severalDevices, "the file holds \(serials.count) tokens",
            hint: "choose with --serial N, or import them with --all")
        explanation.candidates = Array(serials.prefix(50))
        return explanation
    }

    private static func tokenPIN(_ rule: SecurIDError.PINRule) -> Explanation {
        switch rule {
        case .length: Explanation("pin-rule", .usage, "a token's PIN has 4 to 8 characters")
        case .digits: Explanation("pin-rule", .usage, "the PIN of a PINPad token consists of digits")
        case .characters:
            Explanation("pin-rule", .usage, "a token's PIN consists of letters and digits, without spaces")
        }
    }

    package static func ctkip(_ error: CTKIPError) -> Explanation {
        switch error {
        case .mac:
            Explanation(
                "mac", .authentication, "the server's authentication code is wrong, the token was discarded",
                hint: "someone may have changed the exchange; ask who runs the server for another activation code")
        case .activationRefused:
            Explanation(
                "activation-refused", .authentication, "the server refused the activation code",
                hint: "it is mistyped, expired or used already; ask who issued it for a new one")
        case .fault(let kind, let message):
            Explanation(
                "server-fault", .failed,
                "the server reported a fault: \(message.printable)" + (kind.isEmpty ? "" : " (\(kind.printable))"))
        case .reply(let reason):
            malformed("the server's reply is not CT-KIP: \(reason.printable)", hint: "check the address")
        case .status(let status): Explanation("server", .failed, "the server answered with HTTP status \(status)")
        case .http(let error): ctkipServer(http(error))
        case .xml(let error): securID(.xml(error))
        case .token(let error): securID(error)
        case .crypto(let fault): securID(.crypto(fault))
        case .random: securID(.random)
        }
    }

    /// Sets the exit status for failures to reach or trust the server.
    private static func ctkipServer(_ explanation: Explanation) -> Explanation {
        var explanation = explanation
        switch explanation.code {
        case "server-unreachable", "redirected", "http": explanation.exit = .server
        case "server-not-trusted":
            explanation.code = "certificate"
            explanation.exit = .server
            explanation.hint = "nothing was sent; trust its authority with --ca FILE, or do without with --insecure"
        case "server-pin": explanation.exit = .server
        default: break
        }
        return explanation
    }

    package static func store(_ error: StoreError) -> Explanation {
        switch error {
        case .inUse(let path):
            Explanation("store", .busy, "another program uses \(path.printable)", hint: "repeat the command")
        case .unreadable(let path, let reason, let number):
            Explanation("store", Files.exit(number), "cannot read \(path.printable): \(reason)")
        case .unwritable(let path, let reason, let number):
            Explanation("store", Files.exit(number), "cannot write \(path.printable): \(reason)")
        case .malformed(let path, let reason):
            Explanation(
                "store", .malformed, "\(path.printable) is damaged: \(reason.printable)",
                hint: "restore it from a backup")
        case .laterVersion(let path, let version):
            Explanation(
                "store", .malformed, "\(path.printable) has version \(version), which this ykit does not know",
                hint: "use a later ykit")
        case .noKeys: Explanation("store-empty", .notFound, "the store is empty", hint: "ykit securid import FILE")
        case .notThisKey:
            Explanation(
                "store-key", .authentication, "this key does not open the store",
                hint: "'ykit securid store info' lists the keys that do")
        case .notOpened:
            Explanation(
                "store-key", .malformed,
                "the key's secret does not open the store: the file was changed, or the key "
                    + "verified the user in another way than before")
        case .recordChanged(let id):
            Explanation(
                "store-record", .malformed, "the token \(id.printable) was changed in the file",
                hint: "restore a backup")
        case .wrongPassphrase: Explanation("wrong-passphrase", .authentication, "the passphrase of the store is wrong")
        default: storeKey(error)
        }
    }

    private static func storeKey(_ error: StoreError) -> Explanation {
        switch error {
        case .cannotSeal:
            Explanation(
                "cannot-seal", .notSupported, "this key cannot seal: it has no hmac-secret",
                hint: "use a FIDO2 key, a PIV slot (--slot), or --software")
        case .unfitSlot(let slot):
            Explanation(
                "cannot-seal", .notSupported, "the key in slot \(slot.printable) cannot seal",
                hint: "use an RSA or P-256 key")
        case .duplicateKey(let name):
            Explanation("duplicate", .failed, "the store is sealed for this key already ('\(name.printable)')")
        case .noSuchKey(let name):
            Explanation(
                "no-such-key", .notFound, "the store has no key '\(name.printable)'",
                hint: "'ykit securid store info' lists them")
        case .lastKey:
            Explanation(
                "last-key", .policy, "this is the only key of the store, without it the tokens are lost",
                hint: "add another one first: ykit securid store add-key")
        case .fido(let error): fido(error)
        case .piv(let error): piv(error)
        case .crypto(let fault): Explanation("crypto", .failed, "\(fault)")
        default: Explanation("random", .failed, "the system gave no random bytes")
        }
    }
}
