// SPDX-License-Identifier: Apache-2.0

/// Why an HTTP request failed.
public enum HTTPError: Error, Hashable, Sendable {
    /// libcurl is not installed.
    case notInstalled
    /// The address, a pin or a header field is invalid; nothing was sent.
    case malformed(String)
    /// The server is unreachable: the host is unknown, or refuses connections.
    case unreachable(String)
    /// The request timed out.
    case timedOut
    /// The request was cancelled.
    case cancelled
    /// The server's certificate could not be verified.
    case certificate(String)
    /// The server's public key matches no pin; with the key's pin, if known.
    case pin(seen: HTTPPin?)
    /// The file of trusted authorities cannot be read.
    case authorities(String)
    /// The server answered with a redirect, which is not followed.
    case redirected(to: String, status: Int)
    /// The response exceeds the size limit.
    case tooLarge(limit: Int)
    /// Any other libcurl error, with its number (CURLcode).
    case failed(Int, String)
    /// A recording could not be written, or a replay does not match its recording.
    case link(LinkError)
}

extension HTTPError: CustomStringConvertible {
    /// The error in a few words.
    public var description: String {
        switch self {
        case .notInstalled: "libcurl is not installed"
        case .malformed(let reason): reason
        case .unreachable(let reason): reason
        case .timedOut: "the server did not answer in time"
        case .cancelled: "cancelled"
        case .certificate(let reason): "the server's certificate does not verify: \(reason)"
        case .pin(let seen):
            "the server's key matches no pin" + (seen.map { ", it is \($0)" } ?? "")
        case .authorities(let reason): "the trusted authorities cannot be read: \(reason)"
        case .redirected(let place, let status): "the server redirects (\(status)) to \(place)"
        case .tooLarge(let limit): "the answer is longer than \(limit) bytes"
        case .failed(let code, let reason): "\(reason) (libcurl \(code))"
        case .link(let error): "\(error)"
        }
    }
}
