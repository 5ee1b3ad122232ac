// SPDX-License-Identifier: Apache-2.0

public import YKPrivacyIDEA

/// The second factor of a user.
public struct SecondFactorStatus: Hashable, Sendable {
    /// The strongest factor that can be used now.
    public enum State: String, Hashable, Sendable {
        /// The user has no token.
        case none
        /// The user has tokens, but none of them is usable.
        case disabled
        /// A PIN by SMS or email.
        case sms
        /// A FIDO2 key or passkey.
        case fp
        /// Another factor, such as a code generator or a push token.
        case other
    }

    /// The user's name.
    public let user: String
    /// All tokens of the user.
    public let factors: [Factor]

    /// The strongest factor that can be used now.
    public var state: State {
        if factors.isEmpty { return .none }
        let usable = factors.filter(\.isUsable)
        if usable.contains(where: \.isKey) { return .fp }
        if usable.contains(where: \.isPIN) { return .sms }
        return usable.isEmpty ? .disabled : .other
    }
}

/// The channel by which a PIN is sent to the user.
public enum PINChannel: String, Hashable, Sendable, CaseIterable {
    /// By SMS to a mobile phone.
    case sms
    /// By mail.
    case mail
}

extension Factor {
    /// Whether it sends PINs.
    public var isPIN: Bool { channel != nil }
    /// The channel by which it sends its PINs; `nil` if it sends none.
    public var channel: PINChannel? { kind == .sms ? .sms : kind == .email ? .mail : nil }
}

/// A PIN that was sent and has not been verified.
public struct PINChallenge: Hashable, Sendable {
    /// What a PIN proves.
    public enum Purpose: String, Hashable, Sendable {
        /// That the number or address belongs to the user.
        case register
        /// The user's identity in a login.
        case login
    }

    /// What the PIN proves. The server rejects it for the other purpose.
    public let purpose: Purpose
    /// The token that sent it.
    public let serial: String
    /// The channel by which the PIN was sent.
    public let channel: PINChannel
    /// The transaction, for a login.
    public let transactionID: String?
    /// The expiry, in seconds since 1970-01-01 00:00 UTC, if the server reports it.
    public let expiry: Int64?

    /// Creates the description of a sent PIN.
    public init(purpose: Purpose, serial: String, channel: PINChannel, transactionID: String?, expiry: Int64?) {
        self.purpose = purpose
        self.serial = serial
        self.channel = channel
        self.transactionID = transactionID
        self.expiry = expiry
    }
}
