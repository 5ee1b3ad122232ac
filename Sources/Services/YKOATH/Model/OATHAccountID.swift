// SPDX-License-Identifier: Apache-2.0

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
