// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The public part of an object (TPM 2.0 Library, Part 2 §12.2.4, TPMT_PUBLIC).
struct TPMPublicArea: Hashable, Sendable {
    /// The bytes as received, over which the name is calculated.
    let bytes: [UInt8]
    /// The hash function of the name.
    let nameAlgorithm: TPMAlgorithm
    /// The attributes, as bits (TPMA_OBJECT).
    let attributes: UInt32
    /// The policy for its use.
    let policy: [UInt8]
    /// The public key.
    let key: Key

    /// A public key.
    enum Key: Hashable, Sendable {
        /// An RSA modulus and exponent.
        case rsa(modulus: [UInt8], exponent: UInt32)
        /// A point on a curve (TPM_ECC_CURVE).
        case ecc(curve: UInt16, x: [UInt8], y: [UInt8])
    }

    /// Returns whether this is the same key as the COSE key; leading zeros are ignored.
    func isKey(_ other: COSEKey) -> Bool {
        func plain(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(bytes.drop { $0 == 0 }) }
        switch (key, other.material) {
        case (.rsa(let modulus, let exponent), .rsa(let otherModulus, let otherExponent)):
            let number = otherExponent.count > 8 ? nil : otherExponent.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return plain(modulus) == plain(otherModulus) && number == UInt64(exponent)
        case (.ecc(let curve, let x, let y), .ec2(let otherCurve, let otherX, let otherY)):
            return Self.curves[curve] == otherCurve && plain(x) == plain(otherX) && plain(y) == plain(otherY)
        default: return false
        }
    }

    /// Part 4 §4.1 of the TCG Algorithm Registry.
    private static let curves: [UInt16: COSECurve] = [0x0003: .p256, 0x0004: .p384, 0x0005: .p521]
}

extension TPMPublicArea {
    /// Reads a public area of an RSA or ECC key; trailing bytes are an error.
    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.tpmAlgorithm("the type")
        nameAlgorithm = try reader.tpmAlgorithm("the name algorithm")
        attributes = try reader.uint32("the attributes")
        policy = try reader.tpmBytes("the policy")
        switch type {
        case .rsa: key = try reader.tpmRSA()
        case .ecc: key = try reader.tpmECC()
        default: throw WireError(.malformed, at: 0, "a TPM key of type \(type.rawValue)")
        }
        try reader.finish("the public area")
        self.bytes = bytes
    }
}

extension ByteReader {
    mutating func tpmAlgorithm(_ what: String) throws(WireError) -> TPMAlgorithm {
        TPMAlgorithm(rawValue: try uint16(what))
    }

    /// Bytes prefixed with a two-byte length (TPM2B).
    mutating func tpmBytes(_ what: String) throws(WireError) -> [UInt8] {
        try bytes(Int(try uint16("the length of \(what)")), what)
    }

    /// TPMS_RSA_PARMS and TPM2B_PUBLIC_KEY_RSA (Part 2 §12.2.3.5, §11.2.4.5); exponent 0 stands for 65537.
    fileprivate mutating func tpmRSA() throws(WireError) -> TPMPublicArea.Key {
        try tpmSymmetric()
        try tpmScheme("the scheme")
        _ = try uint16("the size of the key")
        let exponent = try uint32("the exponent")
        return .rsa(modulus: try tpmBytes("the modulus"), exponent: exponent == 0 ? 65537 : exponent)
    }

    /// TPMS_ECC_PARMS and TPMS_ECC_POINT (Part 2 §12.2.3.6, §11.2.5.2).
    fileprivate mutating func tpmECC() throws(WireError) -> TPMPublicArea.Key {
        try tpmSymmetric()
        try tpmScheme("the scheme")
        let curve = try uint16("the curve")
        try tpmScheme("the key derivation")
        return .ecc(curve: curve, x: try tpmBytes("the x coordinate"), y: try tpmBytes("the y coordinate"))
    }

    /// TPMT_SYM_DEF_OBJECT (Part 2 §11.1.7): the size of the key and the mode follow unless there is no cipher.
    private mutating func tpmSymmetric() throws(WireError) {
        guard try tpmAlgorithm("the cipher") != .null else { return }
        _ = try uint16("the size of the cipher's key")
        _ = try uint16("the cipher's mode")
    }

    /// TPMT_RSA_SCHEME, TPMT_ECC_SCHEME, TPMT_KDF_SCHEME (Part 2 §11.2): most schemes are followed by a hash, and
    /// ECDAA's hash by a count.
    private mutating func tpmScheme(_ what: String) throws(WireError) {
        let scheme = try tpmAlgorithm(what)
        guard scheme != .null, scheme != .rsaES else { return }
        _ = try tpmAlgorithm("the hash of \(what)")
        if scheme == .ecDAA { _ = try uint16("the count of \(what)") }
    }
}

/// An algorithm's number (TPM 2.0 Library, Part 2 §6.3, TPM_ALG_ID).
struct TPMAlgorithm: OpenSet {
    let rawValue: UInt16
    init(rawValue: UInt16) { self.rawValue = rawValue }

    static let rsa = TPMAlgorithm(rawValue: 0x0001)
    static let null = TPMAlgorithm(rawValue: 0x0010)
    static let rsaES = TPMAlgorithm(rawValue: 0x0015)
    static let ecDAA = TPMAlgorithm(rawValue: 0x001A)
    static let ecc = TPMAlgorithm(rawValue: 0x0023)

    /// The hash function; `nil` for other or unknown algorithms.
    var hash: HashAlgorithm? {
        switch rawValue {
        case 0x0004: .sha1
        case 0x000B: .sha256
        case 0x000C: .sha384
        case 0x000D: .sha512
        default: nil
        }
    }
}

/// The name of an object: the algorithm of a hash, and the hash of its public area (TPM 2.0 Library, Part 1 §16).
struct TPMName: Hashable, Sendable {
    let bytes: [UInt8]

    /// The name of a public area; `nil` if its name algorithm is not a known hash.
    init?(of area: TPMPublicArea) {
        guard let hash = area.nameAlgorithm.hash else { return nil }
        let number = area.nameAlgorithm.rawValue
        bytes = [UInt8(number >> 8), UInt8(number & 0xFF)] + hash.hash(area.bytes)
    }

    init(bytes: [UInt8]) { self.bytes = bytes }
}

/// What a TPM signs to certify another of its keys (TPM 2.0 Library, Part 2 §10.12.12, TPMS_ATTEST with
/// TPMS_CERTIFY_INFO).
struct TPMCertification: Hashable, Sendable {
    /// The signer.
    let signer: [UInt8]
    /// The caller's data that was signed along with it.
    let extraData: [UInt8]
    /// The TPM's clock in milliseconds, its counts of resets and restarts, and whether the clock is safe.
    let clock: (milliseconds: UInt64, resets: UInt32, restarts: UInt32, isSafe: Bool)
    /// The firmware version, in the manufacturer's numbering.
    let firmware: UInt64
    /// The certified key.
    let name: TPMName
    /// The certified key with its parents.
    let qualifiedName: TPMName

    /// TPM_GENERATED_VALUE: signed data begins with FF "TCG", so that external data cannot be mistaken for it.
    private static let magic: UInt32 = 0xFF54_4347
    /// TPM_ST_ATTEST_CERTIFY.
    private static let certify: UInt16 = 0x8017

    /// Reads a certification; trailing bytes are an error.
    init(decoding bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        guard try reader.uint32("the mark") == Self.magic else {
            throw WireError(.malformed, at: 0, "it was not made by a TPM")
        }
        let type = try reader.uint16("the type")
        guard type == Self.certify else { throw WireError(.malformed, at: 4, "type \(type) is not a certification") }
        signer = try reader.tpmBytes("the signer")
        extraData = try reader.tpmBytes("the extra data")
        clock = (
            try reader.bigEndian(8, "the clock"), try reader.uint32("the resets"), try reader.uint32("the restarts"),
            try reader.byte("whether the clock is safe") != 0
        )
        firmware = try reader.bigEndian(8, "the firmware's version")
        name = TPMName(bytes: try reader.tpmBytes("the name"))
        qualifiedName = TPMName(bytes: try reader.tpmBytes("the qualified name"))
        try reader.finish("the certification")
    }

    static func == (left: Self, right: Self) -> Bool {
        left.signer == right.signer && left.extraData == right.extraData && left.clock == right.clock
            && left.firmware == right.firmware && left.name == right.name && left.qualifiedName == right.qualifiedName
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(extraData)
        hasher.combine(name)
    }
}
