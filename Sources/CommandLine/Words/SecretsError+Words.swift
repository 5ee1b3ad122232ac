// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKSecrets
import YKTransport
import YKWire

extension SecretsError: Explained {
    package var explanation: Explanation {
        switch self {
        case .card(.appletMissing):
            Explanation(
                "not-supported", .notSupported, "this key has no Secrets application",
                hint: "a Nitrokey 3 has it; over HID with --link hid")
        case .card(let error): error.explanation
        case .otherApplication:
            Explanation(
                "not-supported", .notSupported, "this key has Yubico's OATH application, not that of a Nitrokey 3",
                hint: "ykit oath --help")
        case .wrongPIN(let tries?):
            Explanation("pin-wrong", .authentication, "wrong PIN, \(Tries.areLeft(tries))", retriesLeft: tries)
        case .wrongPIN(nil): Explanation("pin-wrong", .authentication, "wrong PIN")
        case .pinBlocked:
            Explanation(
                "pin-blocked", .blocked, "the PIN is blocked",
                hint:
                    "entries without protection can still be used; 'ykit secrets reset' deletes all of them and the PIN",
                retriesLeft: 0)
        case .noPIN:
            Explanation("pin-not-set", .policy, "no PIN is set", hint: "set one: ykit secrets pin set")
        case .pinExists:
            Explanation(
                "exists", .policy, "a PIN is already set", hint: "change it: ykit secrets pin change")
        case .pinRequired:
            Explanation(
                "pin-needed", .authentication, "the PIN is required",
                hint: "give the PIN with --pin-stdin, --pin-fd N or YKIT_PIN")
        case .noSuchEntry(let name):
            Explanation(
                "no-such-entry", .notFound, "the key has no entry '\(name.text.printable)'",
                hint: "ykit secrets list, and with --protected those that the PIN protects")
        case .entryExists(let name):
            Explanation(
                "exists", .policy, "the key already has an entry '\(name.text.printable)'",
                hint: "choose another name, or delete it first: ykit secrets delete NAME; one that is not listed is "
                    + "protected by the PIN")
        case .full:
            Explanation(
                "full", .failed, "the key has no room for another entry",
                hint: "delete one: ykit secrets delete NAME")
        case .touchTimeout: .notTouched
        case .wrongCode:
            Explanation(
                "code-wrong", .authentication, "wrong code: it is not one of the next ten",
                hint: "do not trust the device that showed it until you know why")
        case .wrongKind(let name):
            Explanation(
                "wrong-type", .notSupported, "'\(name.text.printable)' is not an entry of that type",
                hint: "ykit secrets list")
        case .unsupported(let feature, let has):
            Explanation(
                "not-supported", .notSupported,
                "\(feature.rawValue) requires version \(feature.firstVersion) of the application, this key has \(has)",
                hint: "update the key's firmware")
        case .badName(let bytes): .usage("a name must have 1 to 127 bytes, this one has \(bytes)")
        case .fieldTooLong(let bytes): .usage("login, password and metadata may have 127 bytes, this one has \(bytes)")
        case .badPIN(let bytes): .usage("a PIN must have 1 to 127 bytes, this one has \(bytes)")
        case .badSecret(let bytes):
            .usage(
                "a secret must have 1 to 125 bytes, and exactly 20 to answer challenges; this one has \(bytes)")
        case .badCode: .usage("a code must have 6 to 8 digits")
        case .badAlgorithm: .usage("the algorithm must be sha1 or sha256, and sha1 to answer challenges")
        }
    }
}
