// SPDX-License-Identifier: Apache-2.0

public import YKPrivacyIDEA

/// Which second factor a user has.
public struct SecondFactorStatus: Hashable, Sendable {
    /// The strongest factor that can be used now.
    public enum State: String, Hashable, Sendable {
        /// No token at all.
        case none
        /// Tokens, but none that can be used.
        case disabled
        /// A PIN by SMS or mail.
        case sms
        /// A FIDO2 key or passkey.
        case fp
        /// Something else, such as a code generator or a push token.
        case other
    }

    /// The user's name.
    public let user: String
    /// All tokens of the user.
    public let factors: [PrivacyIDEAToken]

    /// The strongest factor that can be used now.
    public var state: State {
        if factors.isEmpty { return .none }
        let usable = factors.filter(\.isUsable)
        if usable.contains(where: \.isKey) { return .fp }
        if usable.contains(where: \.isPIN) { return .sms }
        return usable.isEmpty ? .disabled : .other
    }
}

/// How a PIN reaches the user.
public enum PINChannel: String, Hashable, Sendable, CaseIterable {
    /// By SMS to a mobile phone.
    case sms
    /// By mail.
    case mail

    var kind: PrivacyIDEAToken.Kind { self == .sms ? .sms : .email }
}

extension PrivacyIDEAToken {
    /// Whether it is a FIDO2 credential.
    public var isKey: Bool { kind == .webAuthn || kind == .passkey }
    /// Whether it sends PINs.
    public var isPIN: Bool { kind == .sms || kind == .email }
    /// How its PINs reach the user.
    public var channel: PINChannel? { kind == .sms ? .sms : kind == .email ? .mail : nil }
}

/// A PIN that was sent and waits to be verified.
public struct PINChallenge: Hashable, Sendable {
    /// What the PIN proves.
    public enum Purpose: String, Hashable, Sendable {
        /// That the number or address is the user's.
        case register
        /// That the user logs in.
        case login
    }

    /// What the PIN proves. A PIN for one purpose is refused for the other.
    public let purpose: Purpose
    /// The token that sent it.
    public let serial: String
    /// How it was sent.
    public let channel: PINChannel
    /// The transaction, for log-ins.
    public let transactionID: String?
    /// When it expires, in seconds since 1970-01-01 00:00 UTC, where the server told.
    public let expiry: Int64?

    /// Describes a PIN that was sent.
    public init(purpose: Purpose, serial: String, channel: PINChannel, transactionID: String?, expiry: Int64?) {
        self.purpose = purpose
        self.serial = serial
        self.channel = channel
        self.transactionID = transactionID
        self.expiry = expiry
    }
}
