// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKToken
import YKWire

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

    /// The same for programs.
    fileprivate var kindWord: String {
        switch kind {
        case .yubicoOTP: "yubico-otp"
        case .hotp: "hotp"
        case .fixed: "static"
        }
    }

    fileprivate var sourceWord: String {
        switch source {
        case .uri: "uri"
        case .text: "text"
        case .typed: "typed"
        }
    }

    fileprivate var yubicoOTP: YubicoOTP? { if case .yubicoOTP(let otp) = kind { otp } else { nil } }

    fileprivate var hotp: (identifier: String?, code: String)? {
        if case .hotp(let identifier, let code) = kind { (identifier, code) } else { nil }
    }
}

extension OTPToken: Report {
    package static let members: [Member<OTPToken>] = [
        Member(
            "kind", "yubico-otp, hotp or static",
            rows: { [["password", $0.value.printable], ["kind", $0.words]] }
        ) { $0.kindWord },
        Member("value") { $0.value },
        Member("source", "uri, text or typed") { $0.sourceWord },
        Member(
            "publicId", "in modhex, of a Yubico OTP", title: "public id",
            line: { $0.yubicoOTP.map { "\(Modhex.encode($0.publicID)) (\(Hex.encode($0.publicID)))" } }
        ) { $0.yubicoOTP.map { Modhex.encode($0.publicID) } },
        Member("ciphertext", "in hexadecimal, of a Yubico OTP", title: "block") {
            $0.yubicoOTP.map { Hex.encode($0.ciphertext) }
        },
        Member("identifier", "of HOTP: that of the token", title: "token") { $0.hotp?.identifier },
        Member("code", "of HOTP: the digits", title: "code") { $0.hotp?.code },
    ]
}
