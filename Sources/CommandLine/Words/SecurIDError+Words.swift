// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKCTKIP
package import YKSecurID
import YKTransport

extension SecurIDError: Explained {
    package var explanation: Explanation {
        switch self {
        case .format(let reason):
            Explanation(
                "format", .malformed, "this is not a token that ykit can read: \(reason.printable)",
                hint: "supported formats: SDTID files, token strings and links, .stokenrc and pictures with QR codes")
        case .xml(let error): Explanation("format", .malformed, "the XML cannot be read: \(error)")
        case .field(let name): Explanation("format", .malformed, "\(name.printable) is missing or outside its range")
        case .checksum:
            Explanation(
                "checksum", .malformed, "the checksum is wrong: a character of the token is wrong or missing",
                hint: "copy all of it again")
        case .mac(let what):
            Explanation(
                "mac", .malformed, "the file was changed: the authentication code of its \(what.printable) is wrong")
        case .passwordNeeded:
            Explanation(
                "password-needed", .authentication, "the token is protected with a password",
                hint: "give it with --password-stdin, --password-fd N or YKIT_SECURID_PASSWORD")
        case .wrongPassword: Explanation("wrong-password", .authentication, "the password of the token is wrong")
        case .deviceNeeded:
            Explanation(
                "device-needed", .authentication, "the token is bound to a device",
                hint:
                    "give the identifier that it was issued for with --device-id; 'ykit securid binding-id' shows this machine's"
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
                hint: "ask for a new one; --allow-expired uses it anyway")
        case .pin(let rule): rule.explanation
        case .severalTokens(let serials):
            Explanation(
                "several-tokens", .severalDevices,
                "the file contains \(serials.isEmpty ? "several" : "\(serials.count)") tokens",
                hint: "choose with --serial N, or import them with --all", candidates: Array(serials.prefix(50)))
        case .noSuchToken(let serial):
            Explanation("no-such-token", .notFound, "the file has no token \(serial.printable)")
        case .tooLong(let what, let limit): Explanation("too-long", .malformed, "the \(what) is longer than \(limit)")
        case .activationCode:
            Explanation("activation-code", .usage, "an activation code consists of letters and digits")
        case .crypto(let fault): fault.explanation
        case .random: .random
        }
    }
}

extension SecurIDError.PINRule {
    fileprivate var explanation: Explanation {
        switch self {
        case .length: Explanation("pin-rule", .usage, "a token's PIN must have 4 to 8 characters")
        case .digits: Explanation("pin-rule", .usage, "the PIN of a PINPad token must consist of digits")
        case .characters:
            Explanation("pin-rule", .usage, "a token's PIN must consist of letters and digits, without spaces")
        }
    }
}

extension CTKIPError: Explained {
    package var explanation: Explanation {
        switch self {
        case .mac:
            Explanation(
                "mac", .authentication, "the server's authentication code is wrong; the token was discarded",
                hint: "someone may have changed the exchange; ask the server's operator for another activation code")
        case .activationRefused:
            Explanation(
                "activation-refused", .authentication, "the server refused the activation code",
                hint: "it is mistyped, has expired or has been used; ask its issuer for a new one")
        case .fault(let kind, let message):
            Explanation(
                "server-fault", .failed,
                "the server reported a fault: \(message.printable)" + (kind.isEmpty ? "" : " (\(kind.printable))"))
        case .reply(let reason):
            .malformed("the server's reply is not CT-KIP: \(reason.printable)", hint: "check the address")
        case .status(let status): Explanation("server", .failed, "the server answered with HTTP status \(status)")
        case .http(.certificate(let reason)):
            HTTPError.certificate(reason).explanationWithTrust.coded("certificate")
        case .http(let error): error.explanationWithTrust
        case .xml(let error): SecurIDError.xml(error).explanation
        case .token(let error): error.explanation
        case .crypto(let fault): fault.explanation
        case .random: .random
        }
    }
}
