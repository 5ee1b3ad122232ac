// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKTransport
import YKWire

/// A private key in a slot.
package struct VirtualPIVKey: Hashable, Sendable {
    /// The algorithm identifier (NIST SP 800-78-4 Table 6-2, Yubico's additions).
    package var algorithm: UInt8
    /// PKCS#8, DER.
    package var der: [UInt8]
    /// The PIN policy: 1 never, 2 once, 3 always.
    package var pinPolicy: UInt8
    /// The touch policy: 1 never, 2 always, 3 cached.
    package var touchPolicy: UInt8
    /// Whether it was imported.
    package var isImported: Bool

    /// The size of an RSA modulus, in bytes.
    static let modulusSizes: [UInt8: Int] = [0x05: 384, 0x06: 128, 0x07: 256, 0x16: 512]
    /// The curves.
    static let curves: [UInt8: VerificationKey.Curve] = [0x11: .p256, 0x14: .p384]
    static let ed25519: UInt8 = 0xE0
    static let x25519: UInt8 = 0xE1

    /// Whether a key of this version and series supports an algorithm; FIPS keys support neither RSA 1024 nor X25519.
    static func isKnown(_ algorithm: UInt8, _ profile: DeviceProfile) -> Bool {
        let version = profile.version
        return switch algorithm {
        case 0x06, x25519: !profile.isFIPS && (algorithm == 0x06 || version >= FirmwareVersion(5, 7, 0))
        case 0x07, 0x11: true
        case 0x14: version >= FirmwareVersion(4, 0, 0)
        case 0x05, 0x16, ed25519: version >= FirmwareVersion(5, 7, 0)
        default: false
        }
    }

    func privateKey() throws(Refusal) -> PrivateKey {
        do { return try PrivateKey(der: Secret(der)) } catch { throw .status(.memoryFailure) }
    }

    /// The public key. A card stores it; deriving it takes OpenSSL half a millisecond, so it is cached.
    func publicKey() throws(Refusal) -> PublicKey {
        let digest = HashAlgorithm.sha256.hash(der)
        if let known = Self.derived.withLock({ $0[digest] }) { return known }
        let fresh = try privateKey().publicKey
        Self.derived.withLock { known in
            if known.count >= 64 { known = [:] }
            known[digest] = fresh
        }
        return fresh
    }

    /// Public keys by the SHA-256 digest of the private key.
    private static let derived = Mutex<[[UInt8]: PublicKey]>([:])

    /// Generates a key: scalars on curves from the key's randomness, RSA with OpenSSL.
    static func generate(_ algorithm: UInt8, _ inputs: VirtualInputs) throws(Refusal) -> PrivateKey {
        if let size = modulusSizes[algorithm] {
            return try inputs.keyPairs.take(size * 8)
        }
        for _ in 0..<16 {
            let number = Secret(try inputs.draw(curves[algorithm]?.fieldSize ?? 32))
            let key: PrivateKey? =
                switch algorithm {
                case ed25519: try? PrivateKey(ed25519: number)
                case x25519: try? PrivateKey(x25519: number)
                default: curves[algorithm].flatMap { try? PrivateKey($0, scalar: number) }
                }
            if let key { return key }
        }
        throw .status(.memoryFailure)
    }

    /// The data objects of a public key (NIST SP 800-73-4 Part 2 Table 11).
    static func objects(_ key: PublicKey) -> [UInt8] {
        switch key {
        case .rsa(let modulus, let exponent): [TLV(0x81, modulus), TLV(0x82, exponent)].encoded
        case .ec(_, let point), .ed25519(let point), .x25519(let point): TLV(0x86, point).encoded
        }
    }
}
