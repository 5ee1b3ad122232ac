// SPDX-License-Identifier: Apache-2.0

/// What names an account on a key: `[period/][issuer:]name`, at most 64 bytes (YKOATH, "Credential IDs").
///
/// The bytes are the identity; issuer, name and period are read from them.
public struct OATHAccountID: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes a key takes.
    public static let byteLimit = 64
    /// The period that is not written into the name, in seconds.
    public static let usualPeriod = 30

    /// The bytes on the key.
    public let rawName: [UInt8]
    /// Whether the account counts time or uses; only time-based accounts have a period in their name.
    public let type: OATHType
    /// Who the account is with.
    public let issuer: String?
    /// Whose account it is.
    public let name: String
    /// How long a code is valid, in seconds; 30 for counter-based accounts, which have none.
    public let period: Int

    /// Whether the account is meant to stay out of listings (issuer `_hidden`).
    public var isHidden: Bool { issuer == "_hidden" }
    /// Whether codes are written the way Steam Guard writes them (a time-based account of issuer `Steam`).
    public var isSteam: Bool { type == .totp && issuer?.lowercased() == "steam" }

    /// `issuer:name`, or only the name when there is no issuer.
    public var text: String { issuer.map { "\($0):\(name)" } ?? name }
    /// The same as `text`.
    public var description: String { text }
}
