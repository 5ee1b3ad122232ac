// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
import YKWire
import YKX509

/// Which sides of an SCP11 channel authenticate (GlobalPlatform Amendment F §3.1).
public enum SCP11Variant: String, Sendable, Hashable, CaseIterable {
    /// Card and host.
    case a = "11a"
    /// The card only.
    case b = "11b"
    /// Card and host, through a script that may be prepared in advance; it may not manage the card's keys.
    case c = "11c"

    /// The key identifier of the card's private key for the variant.
    public var keyID: UInt8 {
        switch self {
        case .a: 0x11
        case .b: 0x13
        case .c: 0x15
        }
    }

    /// Whether the host authenticates.
    public var authenticatesHost: Bool { self != .b }

    /// The parameter byte of the key agreement (Amendment F §7.6.2.3).
    var parameter: UInt8 {
        switch self {
        case .a: 0x01
        case .b: 0x00
        case .c: 0x03
        }
    }
}

/// The host's own key for SCP11a and SCP11c (OCE: off-card entity).
public struct SCP11HostKey: Sendable {
    /// The private scalar on P-256, 32 bytes, most significant byte first.
    public let privateKey: SharedSecret
    /// The certificate chain, DER: first the one verified by the card's CA key, last the one for the host's key. The
    /// CA's own is not included.
    public let certificates: [[UInt8]]
    /// The card's reference to the CA key that verifies the first certificate, such as KID 10; with version 0 the key
    /// is looked up on the card.
    public let authority: SCPKeyReference

    /// Wraps a key and its certificates.
    ///
    /// - Throws: `badHostKey` without certificates, for a key that is not on P-256 or does not belong to the last one.
    public init(
        privateKey: SharedSecret, certificates: [[UInt8]], authority: SCPKeyReference
    ) throws(SecureChannelFault) {
        (self.privateKey, self.certificates, self.authority) = (privateKey, certificates, authority)
        guard let leaf = certificates.last, certificates.count <= 8 else {
            throw .badHostKey("the host's key needs 1 to 8 certificates")
        }
        guard let key = try? P256KeyAgreement(scalar: privateKey.value) else {
            throw .badHostKey("the host's key is not on P-256")
        }
        let point: [UInt8]
        do { point = try X509Certificate(der: leaf).p256Point } catch {
            throw .badHostKey("the host's certificate cannot be read")
        }
        guard [0x04] + key.publicPoint == point else {
            throw .badHostKey("the host's last certificate is for another key")
        }
    }
}

/// What makes the card's public key trusted in SCP11.
public enum SCP11Trust: Sendable, Hashable {
    /// A trusted certificate of the card's chain, DER: the issuer's.
    case authority([UInt8])
    /// The card's public key itself: 04, x, y.
    case key([UInt8])
    /// Nothing: the channel is encrypted, but the card is not authenticated.
    case unverified
}

/// Constants of SCP11 with AES-128 (Amendment F §7.6.2.3).
enum SCP11 {
    /// C-MAC, C-DECRYPTION, R-MAC and R-ENCRYPTION, authenticated.
    static let keyUsage: UInt8 = 0x3C
    /// AES.
    static let keyType: UInt8 = 0x88

    /// The data of INTERNAL AUTHENTICATE and MUTUAL AUTHENTICATE.
    static func request(_ variant: SCP11Variant, point: [UInt8]) -> [UInt8] {
        let control = [
            TLV(0x90, [0x11, variant.parameter]), TLV(0x95, [keyUsage]), TLV(0x80, [keyType]),
            TLV(0x81, [UInt8(SCP03Keys.keySize)]),
        ]
        return [TLV(0xA6, control.encoded), TLV(0x5F49, point)].encoded
    }

    /// The card's ephemeral point and its receipt, with no trailing data.
    static func reply(_ bytes: [UInt8]) throws(WireError) -> (point: [UInt8], pointObject: [UInt8], receipt: [UInt8]) {
        var reader = ByteReader(bytes)
        var point = try reader.tlv(0x5F49, "the card's ephemeral key")
        let pointObject = Array(bytes[..<reader.offset])
        var receipt = try reader.tlv(0x86, "the receipt")
        try reader.finish("the receipt")
        let (key, code) = (point.rest(), receipt.rest())
        guard key.count == 65, key.first == 0x04, point.isAtEnd else {
            throw WireError(.malformed, at: 3, "not an uncompressed point on P-256")
        }
        guard code.count == AESCMAC.size else { throw WireError(.malformed, at: 0, "a receipt has 16 bytes") }
        return (key, pointObject, code)
    }
}
