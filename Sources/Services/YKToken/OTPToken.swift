// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKWire

/// A one-time or static password that a key typed or sent to a phone, and its source.
public struct OTPToken: Hashable, Sendable {
    /// What kind of password it is.
    public enum Kind: Hashable, Sendable {
        /// A Yubico OTP.
        case yubicoOTP(YubicoOTP)
        /// A counter-based OATH code (RFC 4226), with an optional token identifier before it.
        case hotp(identifier: String?, code: String)
        /// A static password.
        case fixed
    }

    /// The source of a password.
    public enum Source: Hashable, Sendable {
        /// In a URI record.
        case uri(NDEFURI)
        /// In a text record.
        case text(NDEFText)
        /// Typed input.
        case typed
    }

    /// The kind, judged by its form: a static password of 32 to 64 letters of modhex looks like an OTP.
    public var kind: Kind
    /// The normalized password.
    public var value: String
    /// Its source.
    public var source: Source

    /// Creates a token.
    public init(_ kind: Kind, value: String, source: Source) {
        self.kind = kind
        self.value = value
        self.source = source
    }

    /// Parses typed input without the final Enter; `nil` for empty input.
    public init?(typed line: String) {
        let text = line.trimmed
        guard !text.isEmpty else { return nil }
        self.init(text, source: .typed)
    }

    /// Detects the kind of a string; a Yubico OTP typed with Caps Lock is converted to lower case.
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
    /// The kind of a string that looks like a one-time password; `nil` for any other string.
    public init?(oneTime text: String) {
        if let otp = try? YubicoOTP(parsing: text) {
            self = .yubicoOTP(otp)
        } else if let hotp = Self.hotp(text) {
            self = hotp
        } else {
            return nil
        }
    }

    /// Six or eight digits, alone or after the twelve characters of a token identifier: two of a manufacturer, two of a
    /// token type, eight of a serial number, each in modhex or digits (OATH Token Identifier Specification 1.0 §2).
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

/// The contents of a slot with Yubico OTP, as tools that program slots write them.
public struct YubicoOTPKey: Sendable {
    /// The AES key, 16 bytes.
    public let key: SharedSecret
    /// The public identity, up to 16 bytes; `nil` if the text does not have it.
    public let publicID: [UInt8]?
    /// The private identity, 6 bytes; `nil` if the text does not have it.
    public let privateID: SharedSecret?

    /// Reads all keys of a text. The text is either a key in hexadecimal, or lines that contain a public identity in
    /// modhex, a private identity and a key in hexadecimal, separated by commas, semicolons or spaces.
    public static func all(in text: SharedSecret) -> [YubicoOTPKey] {
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        return bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { YubicoOTPKey($0) }
    }

    /// Returns the key for a password: the one with its public identity, or the only one.
    public static func matching(_ otp: YubicoOTP, among keys: [YubicoOTPKey]) -> YubicoOTPKey? {
        keys.first { $0.publicID == otp.publicID } ?? (keys.count == 1 ? keys.first : nil)
    }

    private init?(_ line: ArraySlice<UInt8>) {
        let words = line.split { $0 == 0x2C || $0 == 0x3B || $0 == 0x20 || $0 == 0x09 }.map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let index = words.firstIndex(where: { $0.utf8.count == 32 && (try? Hex.decode($0)) != nil }),
            var key = try? Hex.decode(words[index])
        else { return nil }
        defer { Secret.wipe(&key) }
        self.key = SharedSecret(Secret(key))
        let before = words.prefix(index)
        privateID = before.last.flatMap { $0.utf8.count == 12 ? try? Hex.decode($0) : nil }.map {
            SharedSecret(Secret($0))
        }
        let names = privateID == nil ? before : before.dropLast()
        publicID = names.last.flatMap { try? Modhex.decode($0) }.flatMap { $0.count <= 16 ? $0 : nil }
    }
}
