// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO
public import YKHTTP

/// The challenges that a server opened for a user.
public struct FactorChallenges: Sendable {
    /// The challenges, one for each factor that can answer.
    public let challenges: [FactorChallenge]
    /// The server's message, not sanitized.
    public let message: String?

    /// Creates a list of challenges.
    public init(_ challenges: [FactorChallenge], message: String? = nil) {
        self.challenges = challenges
        self.message = message
    }
}

/// A challenge of one factor.
public struct FactorChallenge: Sendable {
    /// The serial number of the factor that must answer.
    public let serial: String
    /// The transaction, which the answer names.
    public let transactionID: String
    /// The expiry, in seconds since 1970-01-01 00:00 UTC, if the server reports it.
    public let expiry: Int64?
    /// The request to a FIDO2 credential, or why it cannot be read; `nil` for other factors.
    public let request: Result<PublicKeyCredentialRequestOptions, ServerError>?

    /// Describes a challenge.
    public init(
        serial: String, transactionID: String, expiry: Int64? = nil,
        request: Result<PublicKeyCredentialRequestOptions, ServerError>? = nil
    ) {
        (self.serial, self.transactionID, self.expiry, self.request) = (serial, transactionID, expiry, request)
    }
}

/// The result of a check.
public struct FactorCheck: Sendable {
    /// Whether the answer was right.
    public let isAccepted: Bool
    /// The server's message, not sanitized.
    public let message: String?
    /// The serial number of the factor that answered, if the server names it.
    public let serial: String?
    /// The user whom the factor identified, if the server names one.
    public let user: String?
    /// The cookie of a remembered device.
    public let cookie: SharedSecret?

    /// Describes a result.
    public init(
        isAccepted: Bool, message: String? = nil, serial: String? = nil, user: String? = nil,
        cookie: SharedSecret? = nil
    ) {
        (self.isAccepted, self.message, self.serial, self.user) = (isAccepted, message, serial, user)
        self.cookie = cookie
    }
}

/// A passkey's answer.
public struct PasskeyAnswer: Sendable {
    /// The transaction of the ceremony.
    public let transactionID: String
    /// The signature.
    public let response: AuthenticationResponse

    /// Describes an answer.
    public init(transactionID: String, response: AuthenticationResponse) {
        (self.transactionID, self.response) = (transactionID, response)
    }
}

/// The registration of a key that was started.
public struct KeyRegistration: Sendable {
    /// The type of the credential.
    public let factor: KeyFactor
    /// The serial number of the new factor.
    public let serial: String
    /// The transaction.
    public let transactionID: String
    /// The request to the key, or why it cannot be read.
    public let request: Result<PublicKeyCredentialCreationOptions, ServerError>

    /// Describes a registration.
    public init(
        _ factor: KeyFactor, serial: String, transactionID: String,
        request: Result<PublicKeyCredentialCreationOptions, ServerError>
    ) {
        (self.factor, self.serial, self.transactionID, self.request) = (factor, serial, transactionID, request)
    }
}

/// The enrollment of a number or address that was started.
public struct PINEnrolment: Hashable, Sendable {
    /// The serial number of the new factor.
    public let serial: String
    /// Whether it waits for the PIN that was sent.
    public let isUnverified: Bool

    /// Describes an enrollment.
    public init(serial: String, isUnverified: Bool) { (self.serial, self.isUnverified) = (serial, isUnverified) }
}

/// The server's verdict on the PIN that completes an enrollment.
public enum PINEnrolmentEnd: Hashable, Sendable {
    /// The PIN is right; the factor can be used.
    case enrolled
    /// The factor is still waiting for its PIN.
    case waiting
    /// The server refused the PIN as wrong.
    case rejected(ServerError)
}
