// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// An error of a request to a privacyIDEA server.
public enum PrivacyIDEAError: Error, Hashable, Sendable {
    /// The server gave no usable answer.
    case http(HTTPError)
    /// The server refused the request, with its own error number and text.
    case refused(status: Int, code: Int, message: String)
    /// The server answered with an HTTP status but no reason, such as an error page of a proxy.
    case status(Int)
    /// The answer is not a valid privacyIDEA answer, for the given reason.
    case malformed(String)
    /// The answer is not signed by the server's audit key, or belongs to another request.
    case signature
    /// The system provided no random bytes for the request's nonce.
    case random
}
