// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKToken
import YKWire

extension OTPToken {
    /// A short description of its kind.
    var words: String {
        switch kind {
        case .yubicoOTP(let otp):
            otp.publicID.isEmpty
                ? "Yubico OTP without a public identity" : "Yubico OTP of \(Modhex.encode(otp.publicID))"
        case .hotp(let identifier, _): identifier.map { "HOTP of token \($0.printable)" } ?? "HOTP"
        case .fixed: "static password"
        }
    }

    /// The same members for every kind; missing values are null.
    var json: JSON {
        var object: JSON = [
            "kind": "static", "value": .string(value), "source": .string(sourceWord), "publicId": nil,
            "ciphertext": nil,
            "identifier": nil, "code": nil,
        ]
        guard var members = object.object else { return object }
        switch kind {
        case .yubicoOTP(let otp):
            members["kind"] = "yubico-otp"
            members["publicId"] = .string(Modhex.encode(otp.publicID))
            members["ciphertext"] = .string(Hex.encode(otp.ciphertext))
        case .hotp(let identifier, let code):
            members["kind"] = "hotp"
            members["identifier"] = identifier.map(JSON.string) ?? .null
            members["code"] = .string(code)
        case .fixed: break
        }
        object = .object(members)
        return object
    }

    private var sourceWord: String {
        switch source {
        case .uri: "uri"
        case .text: "text"
        case .typed: "typed"
        }
    }
}

/// A password typed by a key now, earlier, or passed on.
struct TypedToken {
    /// Returns the line that contains it: the argument, a line of standard input for `-`, or else one typed at the
    /// terminal.
    static func line(_ argument: String?) throws -> String {
        if let argument, argument != "-" { return argument }
        let secret: Secret
        if argument == nil {
            secret = try Prompt(orElse: "give the password as an argument, or with - on standard input")
                .secret("touch the key")
        } else {
            secret = try SecretInput.line(from: 0)
        }
        let bytes = secret.copyBytes()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads the password from a line.
    static func read(_ argument: String?) throws -> OTPToken {
        guard let token = OTPToken(typed: try line(argument)) else {
            throw Explanation.usage("there is no password", hint: "touch the key, or give one")
        }
        return token
    }
}
