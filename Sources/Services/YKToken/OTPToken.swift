// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What a key typed, or told a telephone: a one-time password or a static one, and where it stood.
public struct OTPToken: Hashable, Sendable {
    /// What kind of password it is.
    public enum Kind: Hashable, Sendable {
        /// A Yubico OTP.
        case yubicoOTP(YubicoOTP)
        /// An OATH code that counts events (RFC 4226), with the token identifier that may stand before it.
        case hotp(identifier: String?, code: String)
        /// Always the same one.
        case fixed
    }

    /// Where it stood.
    public enum Source: Hashable, Sendable {
        /// In a URI record.
        case uri(NDEFURI)
        /// In a text record.
        case text(NDEFText)
        /// It was typed.
        case typed
    }

    /// What kind it is, as far as its look tells: a static password of 32 to 64 letters of modhex looks like an OTP.
    public var kind: Kind
    /// The password as it is to be passed on.
    public var value: String
    /// Where it stood.
    public var source: Source

    /// Creates a token.
    public init(_ kind: Kind, value: String, source: Source) {
        self.kind = kind
        self.value = value
        self.source = source
    }

    /// Takes what was typed, without the Enter at the end; `nil` for nothing.
    public init?(typed line: String) {
        let text = line.trimmed
        guard !text.isEmpty else { return nil }
        self.init(text, source: .typed)
    }

    /// Takes a text for what it looks like; a Yubico OTP that was typed with Caps Lock comes in lower case.
    init(_ text: String, source: Source) {
        let kind = Kind(oneTime: text) ?? .fixed
        if case .yubicoOTP(let otp) = kind {
            self.init(kind, value: "\(otp)", source: source)
        } else {
            self.init(kind, value: text, source: source)
        }
    }
}

extension OTPToken.Kind {
    /// The kind of a text that looks like a one-time password; `nil` for another one.
    public init?(oneTime text: String) {
        if let otp = try? YubicoOTP(parsing: text) {
            self = .yubicoOTP(otp)
        } else if let hotp = Self.hotp(text) {
            self = hotp
        } else {
            return nil
        }
    }

    /// Six or eight digits, alone or behind the twelve characters of a token identifier: two of a maker, two of a kind of
    /// token, eight of a serial number, each in modhex or digits (OATH Token Identifier Specification 1.0 §2).
    private static func hotp(_ text: String) -> Self? {
        let characters = Array(text.utf8)
        for digits in [6, 8] {
            let rest = characters.count - digits
            guard rest == 0 || rest == 12, characters.suffix(digits).allSatisfy(\.isDigit),
                characters.prefix(rest).allSatisfy({ $0.isDigit || $0.isModhex })
            else { continue }
            let identifier = String(decoding: characters.prefix(rest), as: UTF8.self)
            return .hotp(
                identifier: rest == 0 ? nil : identifier,
                code: String(decoding: characters.suffix(digits), as: UTF8.self))
        }
        return nil
    }
}

extension UInt8 {
    var isDigit: Bool { (0x30...0x39).contains(self) }
    var isModhex: Bool { Modhex.alphabet.utf8.contains(self | 0x20) && self >= 0x41 }
}
