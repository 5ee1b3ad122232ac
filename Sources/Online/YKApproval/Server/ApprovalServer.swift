// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKHTTP
public import YKWire

/// The operations that ``Approver`` needs from a server of push accounts, at one enrolled address.
///
/// An implementation only translates; ``Approver`` decides what is signed, and what a reply means for an account. A
/// method throws if there was no reply.
public protocol ApprovalServer: Sendable {
    /// Registers the key of an account.
    ///
    /// - Parameters:
    ///   - credential: The link's credential, which is valid once.
    ///   - address: Where the server should deliver requests; `nil` if they are only fetched.
    func register(
        _ key: PublicKey, serial: String, credential: SharedSecret, address: String?
    ) async throws(ServerError) -> ServerReply<PushRegistration>
    /// Returns the open requests of an account.
    ///
    /// - Parameters:
    ///   - timestamp: The signed time.
    ///   - signature: The account's signature, in the server's encoding.
    func openRequests(
        of serial: String, timestamp: String, signature: String
    ) async throws(ServerError) -> ServerReply<PushRequests>
    /// Answers a request.
    func answer(_ answer: PushAnswer) async throws(ServerError) -> PushConfirmation
    /// Sets the address at which requests are delivered.
    ///
    /// - Returns: Whether the server accepted the signature.
    func setAddress(
        _ address: String, of serial: String, timestamp: String, signature: String
    ) async throws(ServerError) -> Bool
    /// Signs a user in.
    func signIn(_ user: String, _ password: SharedSecret) async throws(ServerError) -> any ApprovalServerSession
}

/// The operations of a signed-in user on a server of push accounts.
public protocol ApprovalServerSession: Sendable {
    /// Requests a push token, and returns its enrollment link.
    func requestLink() async throws(ServerError) -> String
    /// Deletes a token.
    func deleteToken(_ serial: String) async throws(ServerError)
    /// Returns the log of a token, newest first, as far as the user may see it.
    func log(of serial: String, limit: Int) async throws(ServerError) -> [JSONValue]
}

/// A reply, and the server's clock.
public struct ServerReply<Value: Sendable>: Sendable {
    /// The content, or why there is none.
    public let content: Result<Value, ServerError>
    /// The server's time, in seconds since 1970-01-01 00:00 UTC, if it reports it.
    public let date: Int64?

    /// Creates a reply.
    public init(_ content: Result<Value, ServerError>, date: Int64?) {
        self.content = content
        self.date = date
    }
}

/// The reply to the registration of a key.
public enum PushRegistration: Hashable, Sendable {
    /// The account is enrolled, with the key that the server signs with; `nil` if that key is unusable.
    case accepted(PublicKey?)
    /// The server refused, with its reason.
    case refused(String)
}

/// The reply to a poll.
public enum PushRequests: Hashable, Sendable {
    /// The open requests, as the server sent them.
    case open([JSONValue])
    /// The server refused the signature or its time.
    case refused
}

/// A signed answer to a request.
public struct PushAnswer: Hashable, Sendable {
    /// The serial number of the account.
    public let serial: String
    /// The identifier of the request.
    public let nonce: String
    /// The account's signature, in the server's encoding.
    public let signature: String
    /// Whether the login is approved.
    public let isApproved: Bool
    /// The number that the user chose from those in the request.
    public let number: String?
    /// Why the login is declined, if the request accepts a reason.
    public let reason: DeclineReason?
}

/// The reply to an answer.
public struct PushConfirmation: Hashable, Sendable {
    /// Whether the server accepted it.
    public let isAccepted: Bool
    /// The code that the user must type into the login page, if the server requires one.
    public let displayCode: String?
    /// The server's message for the user.
    public let message: String?

    /// Creates a confirmation.
    public init(isAccepted: Bool, displayCode: String? = nil, message: String? = nil) {
        (self.isAccepted, self.displayCode, self.message) = (isAccepted, displayCode, message)
    }
}
