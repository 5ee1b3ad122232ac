// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// An algorithm and its parameters (RFC 5280 §4.1.1.2).
public struct AlgorithmIdentifier: Hashable, Sendable {
    /// The algorithm and its parameters, DER.
    public let encoded: [UInt8]
    /// The algorithm.
    public let type: OID
    /// The parameters, if present.
    public let parameters: TLV?

    /// The parameters if they are an object identifier, such as that of a curve.
    package var parameterType: OID? { parameters.flatMap { $0.tag == 0x06 ? OID(content: $0.value) : nil } }

    /// Whether both are the same algorithm; absent parameters and NULL mean the same (RFC 4055 §2.1).
    func means(_ other: AlgorithmIdentifier) -> Bool {
        func parameters(_ algorithm: AlgorithmIdentifier) -> TLV? {
            algorithm.parameters.flatMap { $0 == TLV(0x05, []) ? nil : $0 }
        }
        return type == other.type && parameters(self) == parameters(other)
    }

    init(_ reader: inout ByteReader, _ what: String) throws(WireError) {
        encoded = try reader.derSequence(what)
        var outer = ByteReader(encoded)
        var content = try outer.der(0x30, what)
        type = try content.derOID(what)
        parameters = content.isAtEnd ? nil : try content.der()
        try content.finish(what)
    }
}

/// A public key of any kind (RFC 5280 §4.1.2.7).
public struct SubjectPublicKeyInfo: Hashable, Sendable {
    /// The key and its algorithm, DER.
    public let encoded: [UInt8]
    /// The algorithm, which gives the kind of key.
    public let algorithm: AlgorithmIdentifier
    /// The key, in the form that its algorithm prescribes.
    public let key: [UInt8]

    /// Reads a key, DER.
    ///
    /// - Throws: `WireError` for anything but an algorithm and the bits of a key.
    public init(der: [UInt8]) throws(WireError) {
        var reader = ByteReader(der)
        try self.init(&reader)
        try reader.finish("the public key")
    }

    /// Reads the key of a certificate of which nothing else counts, such as one that a card stores beside its key: what
    /// precedes the key only has to consist of objects, and what follows is not read.
    ///
    /// - Throws: `WireError` for anything but the beginning of a certificate.
    public init(certificate der: [UInt8]) throws(WireError) {
        var outer = ByteReader(der)
        var certificate = try outer.tlv(0x30, "a certificate")
        var body = try certificate.tlv(0x30, "the certificate's content")
        if body.peek == 0xA0 { _ = try body.tlv() }
        _ = try body.tlv(0x02, "the serial number")
        for what in ["the signature algorithm", "the issuer", "the validity", "the subject"] {
            _ = try body.tlv(0x30, what)
        }
        try self.init(&body)
    }

    init(_ reader: inout ByteReader) throws(WireError) {
        encoded = try reader.derSequence("the public key")
        var outer = ByteReader(encoded)
        var content = try outer.der(0x30, "the public key")
        algorithm = try AlgorithmIdentifier(&content, "the algorithm of the public key")
        key = try content.derBits("the bits of the public key")
        try content.finish("the public key")
    }
}
