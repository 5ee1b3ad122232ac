// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

/// An account on a key, with the fields that the command returned.
public struct OATHAccount: Hashable, Sendable {
    /// The account's identifier.
    public var id: OATHAccountID
    /// The hash function; `nil` if unknown (CALCULATE ALL does not return it).
    public var algorithm: OATHAlgorithm?
    /// Whether a code requires a touch; `nil` if unknown (LIST does not return it).
    public var needsTouch: Bool?
    /// The number of digits in a code; `nil` if unknown (LIST does not return it).
    public var digits: Int?

    /// Creates an account.
    public init(id: OATHAccountID, algorithm: OATHAlgorithm? = nil, needsTouch: Bool? = nil, digits: Int? = nil) {
        self.id = id
        self.algorithm = algorithm
        self.needsTouch = needsTouch
        self.digits = digits
    }

    /// Whether the account is time-based or counter-based.
    public var type: OATHType { id.type }
}

extension OATHAccount: CustomStringConvertible {
    /// Issuer and name.
    public var description: String { id.description }
}

/// The identifier of an account on a key: `[period/][issuer:]name`, at most 64 bytes (YKOATH, "Credential IDs").
///
/// The bytes are the identity; issuer, name and period are parsed from them.
public struct OATHAccountID: Hashable, Sendable, CustomStringConvertible {
    /// Maximum length in bytes.
    public static let byteLimit = 64
    /// The default period, which is omitted from the name: 30 seconds.
    public static let usualPeriod = Duration.seconds(30)

    /// The bytes stored on the key.
    public let rawName: [UInt8]
    /// Whether the account is time-based or counter-based; only time-based accounts have a period in their name.
    public let type: OATHType
    /// The issuer, if there is one.
    public let issuer: String?
    /// The account name.
    public let name: String
    /// How long a code is valid, in whole seconds; 30 seconds for counter-based accounts, which have no period.
    public let period: Duration

    /// Whether the account is hidden from listings (issuer `_hidden`).
    public var isHidden: Bool { issuer == "_hidden" }
    /// Whether codes use Steam Guard's format (a time-based account of issuer `Steam`).
    public var isSteam: Bool { type == .totp && issuer?.lowercased() == "steam" }

    /// `issuer:name`, or only the name without an issuer.
    public var text: String { issuer.map { "\($0):\(name)" } ?? name }
    /// The same as `text`.
    public var description: String { text }
}

extension OATHAccountID {
    /// Parses the name stored on a key; invalid UTF-8 becomes replacement characters.
    public init(rawName: [UInt8], type: OATHType = .totp) {
        self.rawName = rawName
        self.type = type
        var rest = rawName[...]
        if type == .totp, let (period, name) = Self.split(rest) {
            self.period = period
            rest = name
        } else {
            period = Self.usualPeriod
        }
        let parts = rest.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty {
            issuer = String(decoding: parts[0], as: UTF8.self)
            name = String(decoding: parts[1], as: UTF8.self)
        } else {
            issuer = nil
            name = String(decoding: rest, as: UTF8.self)
        }
    }

    /// Composes the name stored on a key.
    ///
    /// A colon in the issuer, or in a name without an issuer, ends the issuer: the fields are the ones that would be
    /// read back. A name that looks like a period gets the default period as a prefix.
    ///
    /// - Parameter period: How long a code is valid; fractions of a second are dropped.
    public init(issuer: String?, name: String, period: Duration = Self.usualPeriod, type: OATHType = .totp) {
        let issuer = issuer.flatMap { $0.isEmpty ? nil : $0 }
        let plain = Array((issuer.map { "\($0):\(name)" } ?? name).utf8)
        let period = period.components.seconds
        let needsPeriod = period > 0 && .seconds(period) != Self.usualPeriod || Self.split(plain[...]) != nil
        let prefix = type == .totp && needsPeriod && !plain.isEmpty ? Array("\(period)/".utf8) : []
        self.init(rawName: prefix + plain, type: type)
    }

    /// Splits off a period of at least one second before a slash.
    private static func split(_ name: ArraySlice<UInt8>) -> (Duration, ArraySlice<UInt8>)? {
        guard let slash = name.firstIndex(of: UInt8(ascii: "/")), slash < name.index(before: name.endIndex) else {
            return nil
        }
        let digits = name[..<slash]
        guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let period = Int32(String(decoding: digits, as: UTF8.self)), period > 0
        else { return nil }
        return (.seconds(period), name[name.index(after: slash)...])
    }
}

/// Issuer and name of an account that another program stored.
package struct AccountLabel {
    package let issuer: String?
    package let name: String

    /// Removes an issuer that the name repeats, as in `GitHub:alice` of GitHub, and lets the issuer stand in for a missing
    /// name.
    ///
    /// - Parameters:
    ///   - isSteam: Whether the codes are Steam's, which on a key only the issuer indicates.
    ///   - mayRepeatIssuer: Whether a name may begin with the issuer because the program does not separate the two.
    package init(issuer: String?, name: String?, isSteam: Bool = false, mayRepeatIssuer: Bool = true) {
        var issuer = issuer ?? ""
        var name = name ?? ""
        if mayRepeatIssuer { name = Self.withoutIssuer(name, issuer) }
        if name.trimmed.isEmpty { (issuer, name) = ("", issuer) }
        let isKnown = !isSteam || issuer.lowercased() == "steam"
        self.issuer = isKnown ? (issuer.isEmpty ? nil : issuer) : "Steam"
        self.name = name
    }

    /// Throws if there is neither a name nor an issuer, or if one contains a zero character.
    package func check() throws(OtpauthError) {
        if name.isEmpty { throw OtpauthError(.label, .empty) }
        if (name + (issuer ?? "")).utf8.contains(0) { throw OtpauthError(.label, .zeroCharacter) }
    }

    private static func withoutIssuer(_ name: String, _ issuer: String) -> String {
        let halves = name.halves(at: ":")
        guard halves.count == 2 else { return name }
        let first = halves[0].trimmed.lowercased()
        // A name that ends with its only colon is an issuer without a name.
        if issuer.isEmpty { return halves[1].trimmed.isEmpty ? halves[0].trimmed : name }
        return first == issuer.lowercased() ? halves[1].trimmed : name
    }
}

/// A new account for a key, with its secret.
public struct NewOATHAccount: Sendable {
    /// The account's identifier, with its type.
    public var id: OATHAccountID
    /// The secret as the service issued it.
    public let secret: SharedSecret
    /// The hash function.
    public var algorithm: OATHAlgorithm
    /// The number of digits in a code, 6 to 8.
    public var digits: Int
    /// Whether a code requires a touch; YubiKeys support this from firmware 4.2.6.
    public var needsTouch: Bool
    /// The initial counter of a counter-based account.
    public var counter: UInt32

    /// Creates an account; it is validated when it is written.
    public init(
        id: OATHAccountID, secret: consuming Secret, algorithm: OATHAlgorithm = .sha1, digits: Int = 6,
        needsTouch: Bool = false, counter: UInt32 = 0
    ) {
        self.id = id
        self.secret = SharedSecret(secret)
        self.algorithm = algorithm
        self.digits = digits
        self.needsTouch = needsTouch
        self.counter = counter
    }
}

/// The accounts on a key whose names conflict with a new one.
public struct OATHNameConflicts: Sendable, Hashable {
    /// The account of the same name, which would be overwritten.
    public let duplicate: OATHAccount?
    /// The accounts whose name begins with the new one.
    public let extending: [OATHAccount]
    /// Whether this firmware damages an account whose name begins with the new one (YubiKey 4.0 to 4.3.4).
    public let isHarmful: Bool

    /// Whether there are no conflicts.
    public var isEmpty: Bool { duplicate == nil && extending.isEmpty }

    init(of id: OATHAccountID, among accounts: [OATHAccount], info: OATHInfo) {
        duplicate = accounts.first { $0.id.rawName == id.rawName }
        extending = accounts.filter { $0.id.rawName.count > id.rawName.count && $0.id.rawName.starts(with: id.rawName) }
        let version = info.isYubiKey ? info.version : nil
        let hasFault = version.map { $0 >= FirmwareVersion(4, 0, 0) && $0 < FirmwareVersion(4, 3, 5) } ?? false
        isHarmful = hasFault && !extending.isEmpty
    }
}

/// The CALCULATE ALL result for one account.
public struct OATHEntry: Sendable, Hashable {
    /// The account.
    public let account: OATHAccount
    /// The code, or why there is none.
    public let outcome: Outcome

    /// Creates an entry.
    public init(account: OATHAccount, outcome: Outcome) {
        self.account = account
        self.outcome = outcome
    }

    /// A code, or why there is none.
    public enum Outcome: Sendable, Hashable {
        /// The code.
        case code(OATHCode)
        /// The code requires a touch; request it by name.
        case needsTouch
        /// Calculating a code would advance the counter; request it by name.
        case hotp
        /// The code requires a separate command, which the caller ruled out; request it by name.
        case separate
        /// The code of this account could not be calculated; the others are unaffected.
        case failed(OATHError)
    }

    /// The code, if there is one.
    public var code: OATHCode? { if case .code(let code) = outcome { code } else { nil } }
}

extension OATHEntry: CustomStringConvertible {
    /// The account and its code, or why there is none.
    public var description: String { "\(account) \(outcome)" }
}

extension OATHEntry.Outcome: CustomStringConvertible {
    /// The code, or why there is none.
    public var description: String {
        switch self {
        case .code(let code): code.text
        case .needsTouch: "touch required"
        case .hotp: "not calculated: counter-based"
        case .separate: "not calculated"
        case .failed(let error): "not calculated: \(error)"
        }
    }
}
