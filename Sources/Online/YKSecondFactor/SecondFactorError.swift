// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
import YKTransport

/// What a service changes on the server.
public enum SecondFactorChange: Hashable, Sendable {
    /// A user's factors.
    case factors
    /// The user, who may be left without a factor.
    case user
    /// A PIN or challenge, which is valid once.
    case challenge
    /// Remembered devices, or which users may have them.
    case trust
    /// A client's API key, which is shown once.
    case apiKey
}

/// An error in the use of a user's second factor.
public enum SecondFactorError: Error, Hashable, Sendable {
    /// The server refused the request or could not be reached.
    case server(ServerError)
    /// A change was sent, but no usable answer was received: the server may have made it.
    case uncertain(ServerError, SecondFactorChange)
    /// The named required value is empty or invalid. Nothing was sent.
    case invalid(String)
    /// The server has no such user.
    case noSuchUser(String)
    /// The user already exists.
    case userExists(String)
    /// The user has no usable factor of this kind.
    case noFactor(String)
    /// An account of role *user* may act only for itself, not for this other user. Nothing was sent.
    case otherAccount(String, user: String)
    /// The enrollment of these factors is incomplete, so that they cannot be enabled.
    case notEnrolled([String])
    /// The server rejected the PIN, code or signature; it may not give a reason. `by` is its error, if it answered
    /// with one.
    case rejected(String?, by: ServerError? = nil)
    /// The fail counter or a limit blocks every attempt; the server's reason.
    case locked(String?)
    /// The PIN expired before it was used.
    case expired
    /// No PIN is waiting to be verified.
    case nothingPending
    /// Several transactions or devices match, given by their identifiers.
    case ambiguous([String])
    /// The server accepts new numbers and addresses without verification (policy `verify_enrollment`).
    case unverifiedEnrolment
    /// A key can be registered only after a number or an address has been verified.
    case noVerifiedChannel
    /// The key could not be used, or did not verify its user.
    case key(WebAuthnError)
    /// The passkey belongs to another user.
    case otherUser(String)
    /// The user has no such device.
    case noSuchDevice(String)
    /// The server does not allow remembered devices for this user and client.
    case trustNotAllowed
    /// The server does not remember this device. `isRevoked` if it also revoked the cookie, because the device was
    /// revoked or the cookie was used elsewhere.
    case notTrusted(isRevoked: Bool)
    /// The API key belongs to no registered client.
    case noSuchClient(String)

    /// The AllWebID SDK's number for this error, if there is one.
    public var legacyCode: Int? {
        switch self {
        case .server(let error), .uncertain(let error, _): Self.legacyCode(error)
        case .otherAccount: 100
        case .invalid: 101
        case .unverifiedEnrolment, .trustNotAllowed, .noVerifiedChannel, .notEnrolled: 103
        case .noSuchUser: 104
        case .expired, .nothingPending: 105
        case .key: 107
        case .rejected, .locked, .otherUser: 201
        // The server answers 500 to a name that exists.
        case .userExists: 200
        case .noFactor, .ambiguous, .noSuchDevice, .notTrusted, .noSuchClient: nil
        }
    }

    private static func legacyCode(_ error: ServerError) -> Int? {
        switch error {
        case .refused(_, 904, _): 104
        case .refused(404, 601, _): 105
        case .refused(401, _, _), .refused(403, _, _): 100
        case .refused(let status, _, _) where status >= 500: 200
        case .status(let status): status >= 500 ? 200 : 106
        case .http(.timedOut): 200
        case .http: 106
        case .refused, .malformed, .signature, .random: nil
        }
    }
}

extension ServerError {
    /// The error of a request for a change that the server may have made nevertheless.
    func after(_ change: SecondFactorChange) -> SecondFactorError {
        switch self {
        case .status, .malformed, .signature: .uncertain(self, change)
        case .refused(let status, _, _): status >= 500 ? .uncertain(self, change) : .server(self)
        case .http(let error): error.isUncertain ? .uncertain(self, change) : .server(self)
        case .random: .server(self)
        }
    }
}

extension HTTPError {
    /// Whether the server may have received the request.
    fileprivate var isUncertain: Bool {
        switch self {
        case .timedOut, .cancelled, .redirected, .tooLarge, .failed: true
        case .notInstalled, .malformed, .unreachable, .certificate, .pin, .authorities, .link: false
        }
    }
}
