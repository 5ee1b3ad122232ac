// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// Certificate path validation (RFC 5280 §6.1), by OpenSSL's `X509_verify_cert`.
///
/// OpenSSL rather than swift-certificates: attestation certificates are also signed with RSA-PSS and Ed448, and an
/// issuer must be allowed to sign certificates; swift-certificates 1.21.1 verifies neither signature and ignores the
/// key usage.
///
/// Issuers, including the anchor, must be certificate authorities that may sign certificates, must be valid at the
/// time, and must respect every path length constraint. OpenSSL must know every critical extension. Revocation is not
/// checked.
package struct CertificatePathCheck: Sendable {
    /// The trusted certificates, DER. An anchor need not be a root; it can be the end of the path itself.
    package var anchors: [[UInt8]]
    /// The time at which certificates must be valid, in seconds since 1970.
    package var time: Int64
    /// The number of certificates at the end of the path whose dates are ignored because a device without a clock made
    /// them.
    package var timelessCount = 0
    /// Whether signatures with SHA-1 are accepted; MD5 never is.
    package var allowsSHA1 = false

    /// Why no path leads to an anchor.
    package enum Fault: Error, Hashable, Sendable {
        /// A certificate cannot be read.
        case malformed
        /// No anchor issued this certificate (DER).
        case noIssuer([UInt8]?)
        /// A certificate is expired or not yet valid.
        case expired([UInt8]?, reason: String)
        /// An issuer is not an authority, may not sign certificates, or has too many authorities below it.
        case notAuthority([UInt8]?, reason: String)
        /// The path has too many certificates.
        case tooLong
        /// Anything else, in OpenSSL's words.
        case refused([UInt8]?, reason: String)
    }

    /// The limits for certificates in a path and for their total size in bytes.
    private static let (limit, byteLimit) = (16, 1 << 20)

    /// Trusts the given certificates at the given time.
    package init(anchors: [[UInt8]], at time: Int64) {
        self.anchors = anchors
        self.time = time
    }

    /// Finds the path from a certificate to an anchor.
    ///
    /// - Parameters:
    ///   - certificate: the end of the path, DER.
    ///   - others: possible intermediate certificates, DER, in any order.
    /// - Returns: the path, `certificate` first, the anchor last.
    /// - Throws: `Fault`, with the certificate at which the search or the check failed.
    package func path(from certificate: [UInt8], others: [[UInt8]] = []) throws(Fault) -> [[UInt8]] {
        let chain = [certificate] + others
        let size = (chain + anchors).reduce(0) { $0 + $1.count }
        guard size <= Self.byteLimit else { throw .malformed }
        var found = [ykit_blob](repeating: ykit_blob(), count: Self.limit)
        var count = found.count
        let result = search(chain, &found, &count)
        defer { for blob in found[..<count] { ykit_blob_free(blob) } }
        let certificates = found[..<count].map { Array(UnsafeBufferPointer(start: $0.bytes, count: $0.size)) }
        guard result == 0 else { throw Self.fault(result, certificates.first) }
        return certificates
    }

    private func search(_ chain: [[UInt8]], _ found: inout [ykit_blob], _ count: inout Int) -> Int32 {
        let (bytes, sizes) = (Array(chain.joined()), chain.map(\.count))
        let (anchorBytes, anchorSizes) = (Array(anchors.joined()), anchors.map(\.count))
        return bytes.withUnsafeBufferPointer { bytes in
            sizes.withUnsafeBufferPointer { sizes in
                anchorBytes.withUnsafeBufferPointer { anchorBytes in
                    anchorSizes.withUnsafeBufferPointer { anchorSizes in
                        var wanted = ykit_path()
                        (wanted.chain, wanted.chain_sizes) = (bytes.baseAddress, sizes.baseAddress)
                        wanted.chain_count = sizes.count
                        (wanted.anchors, wanted.anchor_sizes) = (anchorBytes.baseAddress, anchorSizes.baseAddress)
                        wanted.anchor_count = anchorSizes.count
                        (wanted.time, wanted.timeless) = (time, timelessCount)
                        wanted.allows_sha1 = allowsSHA1 ? 1 : 0
                        return ykit_path_verify(&wanted, &found, &count)
                    }
                }
            }
        }
    }

    private static func fault(_ code: Int32, _ certificate: [UInt8]?) -> Fault {
        do { try OpenSSL.require() } catch { return .refused(nil, reason: error.description) }
        switch code {
        case ..<0: return .malformed
        case ykit_path_no_issuer: return .noIssuer(certificate)
        case ykit_path_too_long: return .tooLong
        default: break
        }
        let reason = ykit_path_reason(code).map { String(cString: $0) } ?? "error \(code)"
        switch code {
        case ykit_path_not_yet, ykit_path_expired: return .expired(certificate, reason: reason)
        case ykit_path_not_authority, ykit_path_no_signing, ykit_path_too_many:
            return .notAuthority(certificate, reason: reason)
        default: return .refused(certificate, reason: reason)
        }
    }
}
