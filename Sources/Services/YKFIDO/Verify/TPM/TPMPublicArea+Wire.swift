// SPDX-License-Identifier: Apache-2.0

import YKWire

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
