// SPDX-License-Identifier: Apache-2.0

public import YKHTTP

/// Why a privacyIDEA server's answer is not what was asked for.
public enum PrivacyIDEAError: Error, Hashable, Sendable {
    /// The server gave no answer that can be used.
    case http(HTTPError)
    /// The server refused, with its own error number and text.
    case refused(status: Int, code: Int, message: String)
    /// The server answered with an HTTP status and without a reason, such as a page of the proxy before it.
    case status(Int)
    /// The answer is not one of privacyIDEA's: what is wrong with it.
    case malformed(String)
    /// The answer is not signed by the server's audit key, or answers another request.
    case signature
    /// The system gave no random bytes for the request's nonce.
    case random
}
