// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Why no validation server said that a password is good.
public enum ValidationError: Error, Hashable, Sendable {
    /// The server says that it is not, or does not want to say.
    case refused(ValidationStatus, server: String)
    /// The reply is not signed with the client's key: somebody else wrote or changed it.
    case badReplySignature(server: String)
    /// The reply is the answer to another question.
    case otherReply(server: String)
    /// The reply is none.
    case malformed(WireError, server: String)
    /// The server answered with an HTTP status that is not 200; a redirection is not followed.
    case http(status: Int, server: String)
    /// The server could not be reached.
    case unreachable(server: String, reason: String)
    /// The address is not `https://`, and there is no key to know the server by.
    case unprotected(server: String)
    /// No random bytes for the nonce, or the whole was called off.
    case link(LinkError)
    /// There is no server to ask.
    case noServer
}
