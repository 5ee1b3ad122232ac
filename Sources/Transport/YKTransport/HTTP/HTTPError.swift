// SPDX-License-Identifier: Apache-2.0

import YKWire

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

/// A server's public key, by the SHA-256 of its SubjectPublicKeyInfo (RFC 7469 §2.4).
public struct HTTPPin: Hashable, Sendable, CustomStringConvertible {
    /// The hash, 32 bytes.
    public let hash: [UInt8]

    /// Parses a pin: `sha256/` and the hash in base64.
    ///
    /// - Throws: `malformed`.
    public init(_ text: String) throws(HTTPError) {
        // Base 64 may begin with a slash, so text that begins with sha256//, curl's prefix, can be read in two ways.
        let marks = ["sha256//", "sha256/", "sha256:"].filter { text.hasPrefix($0) }
        let hashes = (marks.isEmpty ? [""] : marks).compactMap { try? Base64.decode(String(text.dropFirst($0.count))) }
        guard let bytes = hashes.first(where: { $0.count == 32 }) else {
            throw .malformed("a pin is sha256/ and 32 bytes in base64")
        }
        hash = bytes
    }

    /// Wraps a hash of 32 bytes.
    package init(hash: [UInt8]) { self.hash = hash }

    /// The pin in its usual form.
    public var description: String { "sha256/" + Base64.encode(hash) }
}
