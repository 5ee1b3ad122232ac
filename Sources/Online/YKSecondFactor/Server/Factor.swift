// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A second factor of a user, as the server describes it.
public struct Factor: Hashable, Sendable {
    /// The kind of a factor.
    public struct Kind: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Sends a PIN by SMS.
        public static let sms = Kind(rawValue: "sms")
        /// Sends a PIN by email.
        public static let email = Kind(rawValue: "email")
        /// A FIDO2 credential used after a user name.
        public static let webAuthn = Kind(rawValue: "webauthn")
        /// A FIDO2 credential that identifies its user.
        public static let passkey = Kind(rawValue: "passkey")
    }

    /// The state of the enrollment.
    public struct Enrolment: OpenSet {
        /// The server's word.
        public let rawValue: String
        /// Wraps the server's word.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Complete.
        public static let enrolled = Enrolment(rawValue: "enrolled")
        /// Waiting for the PIN that was sent.
        public static let verify = Enrolment(rawValue: "verify")
    }

    /// The serial number.
    public let serial: String
    /// The kind.
    public let kind: Kind
    /// Whether it is enabled.
    public let isActive: Bool
    /// Whether it is permanently revoked or locked.
    public let isWithdrawn: Bool
    /// The state of the enrollment; a factor that is enrolled in one step may have none.
    public let enrolment: Enrolment?
    /// The number of failed attempts so far.
    public let failCount: Int
    /// The number of failed attempts after which every attempt is refused; 0 for no limit.
    public let maxFail: Int
    /// The description.
    public let description: String
    /// The container that the factor is in.
    public let container: String?
    /// The model of a FIDO2 key (AAGUID), as the server writes it.
    public let aaguid: String?

    /// Describes a factor.
    public init(
        serial: String, kind: Kind, isActive: Bool = true, isWithdrawn: Bool = false, enrolment: Enrolment? = .enrolled,
        failCount: Int = 0, maxFail: Int = 0, description: String = "", container: String? = nil, aaguid: String? = nil
    ) {
        (self.serial, self.kind, self.isActive, self.isWithdrawn) = (serial, kind, isActive, isWithdrawn)
        (self.enrolment, self.failCount, self.maxFail) = (enrolment, failCount, maxFail)
        (self.description, self.container, self.aaguid) = (description, container, aaguid)
    }

    /// Whether its enrollment is complete.
    public var isEnrolled: Bool { enrolment == nil || enrolment == .enrolled }
    /// Whether it can be used for a login.
    public var isUsable: Bool { isActive && !isWithdrawn && isEnrolled }
    /// Whether the fail counter blocks every attempt.
    public var isBlocked: Bool { maxFail > 0 && failCount >= maxFail }
    /// Whether it is a FIDO2 credential.
    public var isKey: Bool { kind == .webAuthn || kind == .passkey }
    /// Whether it sends PINs.
    public var isPIN: Bool { channel != nil }
    /// The channel by which it sends its PINs; `nil` if it sends none.
    public var channel: PINChannel? { kind == .sms ? .sms : kind == .email ? .mail : nil }
}

/// The factors that a change applies to.
public enum FactorSelection: Hashable, Sendable {
    /// One factor, by its serial number.
    case serial(String)
    /// All factors of a user.
    case user(String, realm: String?)
}
