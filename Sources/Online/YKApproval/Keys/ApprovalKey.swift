// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// The private key of an account.
public protocol ApprovalKey {
    /// The public half.
    var publicKey: PublicKey { get }
    /// Signs a text with SHA-256: RSASSA-PKCS1-v1_5 for RSA, ECDSA in DER for curves. May wait for a PIN and a touch.
    ///
    /// - Throws: ``ApprovalError``, or an error of the dialog with the user.
    func sign(_ text: [UInt8]) async throws -> [UInt8]
}

extension ApprovalKey {
    /// Signs a text and verifies the signature.
    ///
    /// - Throws: `possession` if the signature was made by another key, and the errors of ``sign(_:)``.
    func signed(_ text: String) async throws -> [UInt8] {
        let bytes = Array(text.utf8)
        let signature = try await sign(bytes)
        guard publicKey.isValid(signature, for: bytes, .sha256) else { throw ApprovalError.possession }
        return signature
    }
}

/// A private key in this computer's memory, for accounts without hardware.
public struct SoftwareApprovalKey: ApprovalKey, Sendable {
    private let key: PrivateKey
    /// The public half.
    public var publicKey: PublicKey { key.publicKey }
    /// PKCS#8 (RFC 5208), DER, for the account's sealed record.
    public var der: SharedSecret { key.der }

    /// Creates a new RSA key of 2048 bits.
    ///
    /// - Throws: `crypto`.
    public init() throws(ApprovalError) {
        do { key = try PrivateKey(newRSA: 2048) } catch { throw .crypto(error) }
    }

    /// Reads the key of a sealed record.
    ///
    /// - Throws: `crypto`.
    public init(der: borrowing Secret) throws(ApprovalError) {
        do { key = try PrivateKey(der: der) } catch { throw .crypto(error) }
    }

    /// Signs a text with SHA-256.
    public func sign(_ text: [UInt8]) async throws -> [UInt8] {
        do { return try key.sign(text, .sha256) } catch { throw ApprovalError.crypto(error) }
    }
}
