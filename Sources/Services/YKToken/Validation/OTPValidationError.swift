// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why no validation server accepted a password.
public enum OTPValidationError: Error, Hashable, Sendable {
    /// The server rejects the password or the request.
    case refused(ValidationStatus, server: String)
    /// The server rejects the password in a reply without a signature, or with one under an empty key, as some servers
    /// send before they look up the client; anyone could have written it.
    case unsignedRefusal(ValidationStatus, server: String)
    /// The reply is not signed with the client's key.
    case badReplySignature(server: String)
    /// The reply is for another request.
    case otherReply(server: String)
    /// The reply is malformed.
    case malformed(WireError, server: String)
    /// The server answered with an HTTP status that is not 200; a redirect is not followed.
    case http(status: Int, server: String)
    /// The server could not be reached.
    case unreachable(server: String, reason: String)
    /// The URL is not `https://`, and there is no key to authenticate the server.
    case unprotected(server: String)
    /// No random bytes for the nonce, or the operation was cancelled.
    case link(LinkError)
    /// No server is configured.
    case noServer
}
