// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
import YKHTTP
public import YKPrivacyIDEA

/// Why a user's second factor could not be dealt with.
public enum SecondFactorError: Error, Hashable, Sendable {
    /// The server refused or could not be asked.
    case server(PrivacyIDEAError)
    /// A required value is empty or cannot be sent: which one. Nothing was sent.
    case invalid(String)
    /// The server has no such user.
    case noSuchUser(String)
    /// The user exists already.
    case userExists(String)
    /// The user has no usable factor of the kind.
    case noFactor(String)
    /// The PIN, code or signature was refused; the server's reason, which may be withheld.
    case rejected(String?)
    /// The fail counter or a limit refuses every attempt; the server's reason.
    case locked(String?)
    /// The PIN expired before it was used.
    case expired
    /// No PIN that was sent is waiting to be verified.
    case nothingPending
    /// Several transactions or devices fit: their identifiers.
    case ambiguous([String])
    /// The server lets new numbers and addresses count without proof (policy `verify_enrollment`).
    case unverifiedEnrolment
    /// A key may be registered only after a number or an address.
    case noVerifiedChannel
    /// The key could not be used, or did not verify its user.
    case key(WebAuthnError)
    /// The passkey belongs to another user.
    case otherUser(String)
    /// The user has no such device.
    case noSuchDevice(String)
    /// The server does not offer to remember devices to this user and client.
    case trustNotAllowed
    /// The server does not remember this device. `isRevoked` when it also withdrew the cookie: it was revoked, or used
    /// elsewhere.
    case notTrusted(isRevoked: Bool)
    /// The API key is of no registered client.
    case noSuchClient(String)

    /// The number by which the AllWebID SDK reports this, where it has one.
    public var legacyCode: Int? {
        switch self {
        case .server(let error): Self.legacyCode(error)
        case .invalid: 101
        case .unverifiedEnrolment, .trustNotAllowed, .noVerifiedChannel: 103
        case .noSuchUser: 104
        case .expired, .nothingPending: 105
        case .key: 107
        case .rejected, .locked, .otherUser: 201
        case .userExists, .noFactor, .ambiguous, .noSuchDevice, .notTrusted, .noSuchClient: nil
        }
    }

    private static func legacyCode(_ error: PrivacyIDEAError) -> Int? {
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
