// SPDX-License-Identifier: Apache-2.0

import YKToken
package import YKWire

extension OTPToken {
    /// A short description of its kind.
    package var words: String {
        switch kind {
        case .yubicoOTP(let otp):
            otp.publicID.isEmpty
                ? "Yubico OTP without a public identity" : "Yubico OTP of \(Modhex.encode(otp.publicID))"
        case .hotp(let identifier, _): identifier.map { "HOTP of token \($0.printable)" } ?? "HOTP"
        case .fixed: "static password"
        }
    }

    /// The same members for every kind; missing values are null.
    package var json: JSONValue {
        var object: JSONValue = [
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
            members["identifier"] = identifier.map(JSONValue.string) ?? .null
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
