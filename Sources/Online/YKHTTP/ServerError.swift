// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why a server's service gave no usable answer.
public enum ServerError: Error, Hashable, Sendable {
    /// The request failed, or was not answered.
    case http(HTTPError)
    /// The server refused the request, with its own error number and text.
    case refused(status: Int, code: Int, message: String)
    /// The server answered with an HTTP status but no reason, such as an error page of a proxy.
    case status(Int)
    /// The answer is not valid, for the given reason.
    case malformed(String)
    /// The answer is not signed by the server's key, or belongs to another request.
    case signature
    /// The system provided no random bytes for the request.
    case random

    /// The server's own text for a refusal; `nil` for everything else.
    public var message: String? { if case .refused(_, _, let message) = self { message } else { nil } }
}
