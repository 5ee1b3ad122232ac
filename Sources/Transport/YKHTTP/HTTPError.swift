// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why a server gave no answer that can be used.
public enum HTTPError: Error, Hashable, Sendable {
    /// libcurl is not installed.
    case notInstalled
    /// The address, a pin or a header field is not what it has to be; nothing was sent.
    case malformed(String)
    /// Nobody answers there: no such host, or nothing listens.
    case unreachable(String)
    /// The time is over.
    case timedOut
    /// It was called off.
    case cancelled
    /// The server cannot show that it is who it says: its certificate does not verify.
    case certificate(String)
    /// The server's public key is none of those that are pinned; what it has, where that could be told.
    case pin(seen: HTTPPin?)
    /// The file with the trusted authorities cannot be read.
    case authorities(String)
    /// The server sends to another place, which is not followed.
    case redirected(to: String, status: Int)
    /// The answer is longer than is read.
    case tooLarge(limit: Int)
    /// Anything else that libcurl reports, with its number (CURLcode).
    case failed(Int, String)
    /// A recording could not be written, or what is replayed has something else.
    case link(LinkError)
}

extension HTTPError: CustomStringConvertible {
    /// What is wrong, in a few words.
    public var description: String {
        switch self {
        case .notInstalled: "libcurl is not installed"
        case .malformed(let reason): reason
        case .unreachable(let reason): reason
        case .timedOut: "the server did not answer in time"
        case .cancelled: "called off"
        case .certificate(let reason): "the server's certificate does not verify: \(reason)"
        case .pin(let seen):
            "the server's key is none of those that are pinned" + (seen.map { ", it is \($0)" } ?? "")
        case .authorities(let reason): "the trusted authorities cannot be read: \(reason)"
        case .redirected(let place, let status): "the server sends elsewhere (\(status)): \(place)"
        case .tooLarge(let limit): "the answer is longer than \(limit) bytes"
        case .failed(let code, let reason): "\(reason) (libcurl \(code))"
        case .link(let error): "\(error)"
        }
    }
}
