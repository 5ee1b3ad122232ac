// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// What the application reports about itself in its reply to SELECT.
public struct SecretsInfo: Hashable, Sendable {
    /// The version of the application, whose first number is always 4.
    public let version: FirmwareVersion
    /// The serial number of the key, four bytes, if it reports one.
    public let serial: [UInt8]?
    /// Whether a PIN is set.
    public let hasPIN: Bool
    /// The remaining tries of the PIN; `nil` if there is none, or the key does not report them.
    public let pinRetries: Int?
    /// Whether the application's reply distinguishes it from Yubico's OATH application: it has a serial number or PIN
    /// tries.
    let isDistinct: Bool
}

/// The kind of an entry's one-time password: the high half of a byte. An open set.
public struct SecretsKind: OpenSet {
    /// The byte, whose low half is 0.
    public let rawValue: UInt8
    /// Wraps a byte; its low half is dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0xF0 }

    /// Counter-based codes (RFC 4226).
    public static let hotp = SecretsKind(rawValue: 0x10)
    /// Time-based codes (RFC 6238).
    public static let totp = SecretsKind(rawValue: 0x20)
    /// The key verifies the codes of another device, and shows the result with its LED.
    public static let reverseHOTP = SecretsKind(rawValue: 0x30)
    /// Answers challenges from KeePassXC, as a YubiKey's slot does.
    public static let hmac = SecretsKind(rawValue: 0x40)
    /// No one-time password: the entry has a login, password or metadata, or nothing.
    public static let none = SecretsKind(rawValue: 0xF0)

    /// The usual name, otherwise the number.
    public var description: String {
        switch self {
        case .hotp: "hotp"
        case .totp: "totp"
        case .reverseHOTP: "reverse-hotp"
        case .hmac: "hmac"
        case .none: "password"
        default: "type \(rawValue >> 4)"
        }
    }
}

/// The hash of an entry: the low half of a byte. An open set.
public struct SecretsAlgorithm: OpenSet {
    /// The byte, whose high half is 0.
    public let rawValue: UInt8
    /// Wraps a byte; its high half is dropped.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// SHA-1.
    public static let sha1 = SecretsAlgorithm(rawValue: 1)
    /// SHA-256.
    public static let sha256 = SecretsAlgorithm(rawValue: 2)

    /// The usual name, otherwise the number.
    public var description: String {
        switch self {
        case .sha1: "sha1"
        case .sha256: "sha256"
        default: "algorithm \(rawValue)"
        }
    }
}

/// The name of an entry: 1 to 127 bytes, usually UTF-8.
public struct SecretsName: Hashable, Sendable {
    /// Maximum length of a name in bytes.
    public static let limit = 127
    /// The bytes as stored on the key.
    public let bytes: [UInt8]

    /// A name read from the key.
    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Creates a name from the UTF-8 bytes of a string.
    ///
    /// - Throws: `badName` if it has none or more than 127.
    public init(_ text: String) throws(SecretsError) {
        bytes = Array(text.utf8)
        guard (1...Self.limit).contains(bytes.count) else { throw .badName(bytes: bytes.count) }
    }

    /// The name as text; bytes that are not UTF-8 are replaced.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// An entry as listed by LIST.
public struct SecretsEntry: Hashable, Sendable {
    /// Its name.
    public let name: SecretsName
    /// The kind of its one-time password.
    public let kind: SecretsKind
    /// The hash of its one-time password.
    public let algorithm: SecretsAlgorithm
    /// Whether it requires a touch to be used; `nil` if the key does not say.
    public let needsTouch: Bool?
    /// Whether it is encrypted with the PIN, so that it is listed and used only with it; `nil` if the key does not say.
    public let isProtected: Bool?
    /// Whether it has a login or a password; `nil` if the key does not say.
    public let hasPassword: Bool?
}

extension SecretsEntry: NamedEntry {
    package static func wholeTests(_ name: String) -> [(SecretsEntry) -> Bool] { [{ $0.name.text == name }] }

    package static func partTests(_ part: String) -> [(SecretsEntry) -> Bool] { [{ $0.name.text.mentions(part) }] }
}

/// The one-time password of a new entry.
public struct SecretsOTP: Sendable {
    /// Its kind.
    public let kind: SecretsKind
    /// The hash.
    public let algorithm: SecretsAlgorithm
    /// The number of digits of a code, 6 to 8.
    public let digits: Int
    /// The shared secret: 1 to 125 bytes; 20 for `hmac`.
    public let secret: SharedSecret
    /// The counter of the first code of `hotp` and `reverseHOTP`.
    public let counter: UInt32

    /// Describes a one-time password.
    public init(
        _ kind: SecretsKind, secret: SharedSecret, algorithm: SecretsAlgorithm = .sha1, digits: Int = 6,
        counter: UInt32 = 0
    ) {
        (self.kind, self.secret, self.algorithm) = (kind, secret, algorithm)
        (self.digits, self.counter) = (digits, counter)
    }
}

/// What an entry of the password safe holds. Each field has at most 127 bytes; an empty one is absent.
public struct SecretsRecord: Sendable {
    /// The user name.
    public var login: String?
    /// The password.
    public var password: SharedSecret?
    /// Other data of the entry, usually text.
    public var metadata: SharedSecret?

    /// Describes what an entry holds.
    public init(login: String? = nil, password: SharedSecret? = nil, metadata: SharedSecret? = nil) {
        (self.login, self.password, self.metadata) = (login, password, metadata)
    }
}

/// A new entry.
public struct NewSecretsEntry: Sendable {
    /// Its name.
    public let name: SecretsName
    /// Its one-time password, if it has one.
    public let otp: SecretsOTP?
    /// Login, password and metadata.
    public let record: SecretsRecord
    /// Whether it requires a touch to be used. A protected entry requires no touch besides that for the PIN.
    public let needsTouch: Bool
    /// Whether it is encrypted with the PIN.
    public let isProtected: Bool

    /// Describes an entry.
    public init(
        _ name: SecretsName, otp: SecretsOTP? = nil, record: SecretsRecord = SecretsRecord(), needsTouch: Bool = false,
        isProtected: Bool = false
    ) {
        (self.name, self.otp, self.record) = (name, otp, record)
        (self.needsTouch, self.isProtected) = (needsTouch, isProtected)
    }

    /// Whether the key stores it only with the PIN: a protected entry, or one that verifies the codes of others.
    public var needsPIN: Bool { isProtected || otp?.kind == .reverseHOTP }
}

/// An entry as GET CREDENTIAL returns it. One-time passwords cannot be read.
public struct SecretsContent: Sendable {
    /// Its name.
    public let name: SecretsName
    /// The kind of its one-time password; `nil` if the key does not say.
    public let kind: SecretsKind?
    /// Login, password and metadata.
    public let record: SecretsRecord
}

/// A change of an entry. A member that is `nil` changes nothing; an empty field is removed.
public struct SecretsChange: Sendable {
    /// The new name.
    public var name: SecretsName?
    /// The new login, password and metadata.
    public var record: SecretsRecord
    /// Whether it requires a touch.
    public var needsTouch: Bool?

    /// Describes a change.
    public init(name: SecretsName? = nil, record: SecretsRecord = SecretsRecord(), needsTouch: Bool? = nil) {
        (self.name, self.record, self.needsTouch) = (name, record, needsTouch)
    }
}

/// A feature that requires a version of the application.
public enum SecretsFeature: String, Sendable, Hashable, CaseIterable {
    /// Entries without a PIN as well as with one.
    case application = "the Secrets application"
    /// Login, password and metadata, and the properties of listed entries.
    case passwords = "entries with a password"
    /// UPDATE CREDENTIAL.
    case update = "changing an entry"

    /// The first version that supports it.
    public var firstVersion: FirmwareVersion {
        switch self {
        case .application: FirmwareVersion(4, 10, 0)
        case .passwords: FirmwareVersion(4, 11, 0)
        case .update: FirmwareVersion(4, 13, 0)
        }
    }
}
