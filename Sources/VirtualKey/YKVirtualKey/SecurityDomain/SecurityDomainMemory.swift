// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// The persistent state of the Security Domain: the keys of secure channels.
package struct SecurityDomainMemory: AppletMemory {
    package static let member = "securityDomain"

    /// A key, or a set of three.
    package struct Key: Hashable, Sendable {
        package var id: UInt8
        package var version: UInt8
        /// An SCP03 set ENC, MAC, DEK (48 bytes), a private scalar on P-256 (32), or a CA's public point (65).
        package var bytes: [UInt8]
        /// The certificates of a private key, concatenated, leaf last.
        package var certificates: [UInt8] = []
        /// The subject key identifier of the CA: this key itself, or the issuer of its certificate.
        package var issuer: [UInt8] = []
        /// The serial numbers allowed for certificates of this CA; `nil` for any.
        package var allowed: [[UInt8]]?
        /// The number of handshakes that may still fail; the last failure deletes the key.
        package var tries = SecurityDomainMemory.tryLimit

        var isSet: Bool { bytes.count == 48 }
        var isPrivate: Bool { bytes.count == 32 }
        var isAuthority: Bool { bytes.count == 65 }

        func part(_ index: Int) -> Secret { Secret(bytes[(16 * index)..<(16 * index + 16)]) }
    }

    static let tryLimit: UInt8 = 65
    static let setLimit = 3
    static let keyLimit = 16
    static let factoryVersion: UInt8 = 0xFF

    /// `nil` until the application is first used: a new key has the factory keys.
    package var keys: [Key]?

    package init() {}

    func index(_ id: UInt8, _ version: UInt8) -> Int? {
        keys?.firstIndex { $0.id == id && (version == 0 || $0.version == version) }
    }

    // MARK: - Factory

    /// Creates the factory keys: the public SCP03 set and, from firmware 5.7.2 on, a key for SCP11b with a certificate.
    mutating func prepare(_ profile: DeviceProfile, _ inputs: VirtualInputs) throws(Refusal) {
        guard keys?.isEmpty ?? true else { return }
        let factory = (0..<3).flatMap { _ in UInt8(0x40)...UInt8(0x4F) }
        var made = [Key(id: 0x01, version: Self.factoryVersion, bytes: factory)]
        if profile.hasSCP11 { made.append(try Self.factoryKey(inputs)) }
        keys = made
    }

    private static func factoryKey(_ inputs: VirtualInputs) throws(Refusal) -> Key {
        var (key, issuer) = try generated(0x13, 0x01, inputs)
        key.issuer = issuer
        return key
    }

    /// A new private key with its certificates, and the identifier of the authority that signed them.
    static func generated(
        _ id: UInt8, _ version: UInt8, _ inputs: VirtualInputs
    ) throws(Refusal) -> (key: Key, issuer: [UInt8]) {
        let (root, number) = (try HSMAuthApplet.privateNumber(inputs), try HSMAuthApplet.privateNumber(inputs))
        guard let chain = try? SecurityDomainCertificates.chain(root, number, id: id, version: version) else {
            throw .status(.memoryFailure)
        }
        return (Key(id: id, version: version, bytes: number, certificates: chain.certificates), chain.issuer)
    }
}

extension DeviceProfile {
    /// Whether the key supports secure channels.
    var hasSCP: Bool { version >= FirmwareVersion(5, 3, 0) && !isSecurityKey && !model.isCard }
    /// Whether the key supports SCP11, which uses elliptic curve keys.
    var hasSCP11: Bool { hasSCP && version >= FirmwareVersion(5, 7, 2) }
}

// MARK: - State file

extension SecurityDomainMemory {
    package mutating func visitField(of file: inout StateFields) throws(StateFields.Fault) {
        try file(Self.member, &keys, .list(.record))
        let names = keys.map { $0.map { [$0.id, $0.version] } } ?? []
        try file.unique(Self.member, "version", names, "another key has this number")
    }
}

extension SecurityDomainMemory.Key: StateRecord {
    package init() { self.init(id: 0, version: 0, bytes: []) }

    package mutating func visit(_ fields: inout StateFields) throws(StateFields.Fault) {
        try fields("id", &id, .number(1...0x2F))
        try fields("version", &version, .number(1...0xFF))
        try fields("key", &bytes, .bytes)
        try fields.check(
            "key", isSet == (id == 0x01) && (isSet || isPrivate || isAuthority),
            "expected 48 bytes of an SCP03 set, 32 of a private or 65 of a public key")
        try fields("certificates", &certificates, .bytes, unless: [])
        try fields("issuer", &issuer, .bytes, unless: [])
        try fields("allowed", &allowed, .list(.bytes))
        try fields("tries", &tries, .number(1...SecurityDomainMemory.tryLimit))
    }
}

extension VirtualKeyState {
    /// The Security Domain's memory.
    package var securityDomain: SecurityDomainMemory {
        get { self[SecurityDomainMemory.self] }
        set { self[SecurityDomainMemory.self] = newValue }
    }
}

/// Creates the certificates of the Security Domain's own keys and parses a host's (RFC 5280 §4.1).
enum SecurityDomainCertificates {
    /// The certificates of a small authority and of a key agreement key, and the authority's key identifier. Keys
    /// generated by the application have them from the start.
    static func chain(
        _ root: [UInt8], _ leaf: [UInt8], id: UInt8, version: UInt8
    ) throws -> (certificates: [UInt8], issuer: [UInt8]) {
        let rootKey = try PrivateKey(.p256, scalar: Secret(root))
        let leafKey = try PrivateKey(.p256, scalar: Secret(leaf))
        let (issuer, own) = (identifier(rootKey.publicKey), identifier(leafKey.publicKey))
        let name = "ykit virtual SCP root"
        let top = try VirtualCertificate.make(
            rootKey.publicKey, name, signedBy: rootKey, name, serial: [1],
            [VirtualCertificate.authority, usage(0x01, 0x06), subjectKey(issuer)])
        let end = try VirtualCertificate.make(
            leafKey.publicKey, "ykit virtual SCP key \(Hex.encode([id])):\(Hex.encode([version]))", signedBy: rootKey,
            name,
            serial: Array(HashAlgorithm.sha256.hash(leafKey.publicKey.subjectPublicKeyInfo).prefix(8)),
            [usage(0x03, 0x08), subjectKey(own), authorityKey(issuer)])
        return (top + end, issuer)
    }

    private static func identifier(_ key: PublicKey) -> [UInt8] {
        Array(HashAlgorithm.sha256.hash(key.subjectPublicKeyInfo).prefix(20))
    }

    private static func field(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        TLV(0x30, [TLV(0x06, [0x55, 0x1D, number]), TLV(0x04, value)].encoded).encoded
    }

    private static func usage(_ unused: UInt8, _ bits: UInt8) -> [UInt8] {
        TLV(
            0x30,
            TLV(0x06, [0x55, 0x1D, 0x0F]).encoded + [0x01, 0x01, 0xFF]
                + TLV(0x04, TLV(0x03, [unused, bits]).encoded).encoded
        ).encoded
    }

    private static func subjectKey(_ identifier: [UInt8]) -> [UInt8] { field(0x0E, TLV(0x04, identifier).encoded) }

    private static func authorityKey(_ identifier: [UInt8]) -> [UInt8] {
        field(0x23, TLV(0x30, TLV(0x80, identifier).encoded).encoded)
    }

    /// A host's certificate, as far as the card checks it.
    struct Host {
        let serial: [UInt8]
        let point: [UInt8]
        private let signed: [UInt8]
        private let signature: [UInt8]

        init(_ der: [UInt8]) throws(WireError) {
            var outer = ByteReader(der)
            var certificate = try outer.tlv(0x30, "a certificate")
            try outer.finish("the certificate")
            let start = certificate.offset
            var body = try certificate.tlv(0x30, "its content")
            signed = Array(der[start..<certificate.offset])
            _ = try certificate.tlv(0x30, "the algorithm")
            signature = Array(try certificate.value(0x03).dropFirst())
            if body.peek == 0xA0 { _ = try body.tlv() }
            serial = try body.value(0x02)
            for _ in 0..<4 { _ = try body.value(0x30) }
            let info = try body.value(0x30)
            guard info.count >= 65, info[info.count - 65] == 0x04 else {
                throw WireError(.malformed, at: body.offset, "not a point")
            }
            point = Array(info.suffix(65))
        }

        /// Whether the certificate is signed with SHA-256 and the private key of this point on P-256.
        func isSigned(by point: [UInt8]) -> Bool {
            (try? VerificationKey(ecdsa: .p256, point: point))?.isValid(signature, for: signed) ?? false
        }
    }
}
