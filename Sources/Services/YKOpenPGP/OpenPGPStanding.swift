// SPDX-License-Identifier: Apache-2.0

/// What holds on a card that refused a step of a change of its key derivation.
public struct OpenPGPStanding: Sendable, Hashable {
    /// What a PIN is.
    public enum PIN: Sendable, Hashable {
        /// The one before the change.
        case old
        /// The new one.
        case new
        /// The factory default: 123456 or 12345678.
        case initial
        /// None that can be typed: the card has it in the form that is not sent.
        case unusable
        /// The new one or another.
        case unknown
    }

    /// Whether PINs are sent as hashes; `nil` if that is not known.
    public let isHashed: Bool?
    /// The user PIN.
    public let user: PIN
    /// The admin PIN.
    public let admin: PIN

    /// Describes a card.
    public init(isHashed: Bool?, user: PIN, admin: PIN) {
        (self.isHashed, self.user, self.admin) = (isHashed, user, admin)
    }

    /// After a failure of the link, which leaves open whether the last command was carried out.
    static let unknown = OpenPGPStanding(isHashed: nil, user: .unknown, admin: .unknown)
}
