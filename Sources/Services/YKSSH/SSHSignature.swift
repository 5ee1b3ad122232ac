// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKWire

/// An SSH signature (RFC 4253 §6.6, RFC 5656 §3.1.2, RFC 8332 §3, RFC 8709 §6, OpenSSH's PROTOCOL.u2f).
public struct SSHSignature: Hashable, Sendable {
    /// The name of the signature format, such as `rsa-sha2-512`.
    public let format: String
    /// The signature in that format: two numbers for ECDSA, otherwise the raw bytes.
    public let blob: [UInt8]
    /// The flags and the counter in the authenticator data, for a credential of a FIDO key.
    public let evidence: Evidence?

    /// The part of the authenticator data that a credential's signature also covers (WebAuthn Level 3 §6.1).
    public struct Evidence: Hashable, Sendable {
        /// 01 for a touch, 04 for PIN or fingerprint.
        public let flags: UInt8
        /// The signature counter of the key or credential.
        public let counter: UInt32
        /// What a browser signed, for a signature made by WebAuthn.
        public private(set) var client: Client?

        /// The form `webauthn-sk-ecdsa-sha2-nistp256@openssh.com` (PROTOCOL.u2f): the client data, whose challenge is the
        /// message.
        public struct Client: Hashable, Sendable {
            /// The origin of the page.
            public let origin: String
            /// The client data in UTF-8.
            public let data: [UInt8]
            /// The extensions in the authenticator data, CBOR.
            public let extensions: [UInt8]

            /// Whether the client data are an assertion of this message by this page.
            func states(_ message: [UInt8]) -> Bool {
                let start =
                    "{\"type\":\"webauthn.get\",\"challenge\":\"\(Base64.encodeURL(message))\",\"origin\":\"\(origin)\""
                guard data.starts(with: start.utf8), !origin.utf8.contains(0x22) else { return false }
                return [UInt8(ascii: ","), UInt8(ascii: "}")].contains(data.dropFirst(start.utf8.count).first)
            }
        }

        /// Creates the evidence from values of the authenticator data.
        public init(flags: UInt8, counter: UInt32) {
            self.flags = flags
            self.counter = counter
        }

        fileprivate init(_ reader: inout SSHReader, isWebAuthn: Bool) throws(SSHError) {
            flags = try reader.byte("the flags")
            counter = try reader.uint32("the counter")
            guard isWebAuthn else { return }
            let origin = try reader.text("the origin")
            let data = try reader.string("the client data")
            client = Client(origin: origin, data: data, extensions: try reader.string("the extensions"))
        }
    }

    /// The name of the form for signatures by WebAuthn.
    private static let webAuthn = "webauthn-sk-ecdsa-sha2-nistp256@openssh.com"

    /// Creates a signature from the output of a key.
    ///
    /// - Parameters:
    ///   - signature: RSASSA-PKCS1-v1_5, ECDSA in DER, or the 64 bytes of Ed25519.
    ///   - key: The public key of the signer.
    ///   - hash: The hash used with RSA: SHA-256 or SHA-512. Ignored for other keys.
    ///   - evidence: The signed authenticator data, for a credential.
    /// - Throws: ``SSHError/wrongSignature(_:)``.
    public init(
        _ signature: [UInt8], by key: SSHPublicKey, hash: HashAlgorithm = .sha512, evidence: Evidence? = nil
    ) throws(SSHError) {
        guard (key.application != nil) == (evidence != nil) else {
            throw .wrongSignature("a credential's signature, and no other, has flags and a counter")
        }
        self.evidence = evidence
        switch key.key {
        case .rsa:
            guard let name = Self.rsaNames.first(where: { $0.hash == hash })?.name else {
                throw .wrongSignature("RSA signs with SHA-256 or SHA-512")
            }
            (format, blob) = (name, signature)
        case .ec:
            guard let numbers = Self.numbers(der: signature) else {
                throw .wrongSignature("an ECDSA signature that is not two numbers in DER")
            }
            (format, blob) = (key.type, SSHWriter.strings(SSHWriter.number(numbers.r), SSHWriter.number(numbers.s)))
        case .ed25519, .x25519:
            guard signature.count == 64 else {
                throw .wrongSignature("an Ed25519 signature of \(signature.count) bytes")
            }
            (format, blob) = (key.type, signature)
        }
    }

    private static let rsaNames: [(name: String, hash: HashAlgorithm)] = [
        ("rsa-sha2-256", .sha256), ("rsa-sha2-512", .sha512),
    ]

    /// The signature in wire format.
    public var wire: [UInt8] {
        var writer = SSHWriter()
        writer.string(format)
        writer.string(blob)
        if let evidence {
            writer.byte(evidence.flags)
            writer.uint32(evidence.counter)
            if let client = evidence.client {
                for bytes in [Array(client.origin.utf8), client.data, client.extensions] { writer.string(bytes) }
            }
        }
        return writer.bytes
    }

    /// Reads a signature in wire format.
    ///
    /// - Throws: ``SSHError/malformed(_:)``.
    public init(wire: [UInt8]) throws(SSHError) {
        var reader = SSHReader(wire)
        format = try reader.text("the form of the signature")
        blob = try reader.string("the signature")
        if format.hasPrefix("sk-") || format == Self.webAuthn {
            evidence = try Evidence(&reader, isWebAuthn: format == Self.webAuthn)
        } else {
            evidence = nil
        }
        try reader.finish("the signature")
    }

    /// Whether the signature is valid for a message and a key. SHA-1 is not accepted.
    public func isValid(for message: [UInt8], by key: SSHPublicKey) -> Bool {
        guard (key.application != nil) == (evidence != nil) else { return false }
        if let client = evidence?.client {
            // The flags must say whether there are extensions, and no credential is attested (WebAuthn Level 3 §6.1).
            let hasExtensions = evidence.map { $0.flags & 0x80 != 0 } ?? false
            guard client.states(message), hasExtensions == !client.extensions.isEmpty,
                evidence.map({ $0.flags & 0x40 == 0 }) == true
            else { return false }
        }
        let signed = Self.signed(message, key, evidence)
        switch key.key {
        case .rsa:
            guard let hash = Self.rsaNames.first(where: { $0.name == format })?.hash else { return false }
            return key.key.isValid(blob, for: signed, hash)
        case .ec(let curve, _):
            let expected = evidence?.client == nil ? key.type : Self.webAuthn
            guard format == expected, curve == .p256 || evidence?.client == nil, let der = Self.der(blob) else {
                return false
            }
            return key.key.isValid(der, for: signed, curve.hash)
        case .ed25519: return format == key.type && key.key.isValid(blob, for: signed, .sha512)
        case .x25519: return false
        }
    }

    /// Returns the signed data: the message, or for a credential the data that its authenticator signs.
    private static func signed(_ message: [UInt8], _ key: SSHPublicKey, _ evidence: Evidence?) -> [UInt8] {
        guard let application = key.application, let evidence else { return message }
        var writer = SSHWriter()
        writer.append(HashAlgorithm.sha256.hash(application.utf8))
        writer.byte(evidence.flags)
        writer.uint32(evidence.counter)
        writer.append(evidence.client?.extensions ?? [])
        writer.append(HashAlgorithm.sha256.hash(evidence.client?.data ?? message))
        return writer.bytes
    }

    /// Returns the two numbers of an ECDSA signature in DER (RFC 3279 §2.2.3).
    private static func numbers(der: [UInt8]) -> (r: [UInt8], s: [UInt8])? {
        guard let outer = try? TLV.list(der), outer.count == 1, outer[0].tag == 0x30,
            let inner = try? TLV.list(outer[0].value), inner.count == 2, inner.allSatisfy({ $0.tag == 0x02 })
        else { return nil }
        return (inner[0].value, inner[1].value)
    }

    /// Returns the DER form of the two numbers in a blob.
    private static func der(_ blob: [UInt8]) -> [UInt8]? {
        var reader = SSHReader(blob)
        guard let r = try? reader.number("r"), let s = try? reader.number("s"), reader.isAtEnd,
            !r.isEmpty, !s.isEmpty, r.count <= 66, s.count <= 66
        else { return nil }
        let numbers = [r, s].map { TLV(0x02, SSHWriter.number($0)).encoded }
        return TLV(0x30, Array(numbers.joined())).encoded
    }
}

/// A file signature (OpenSSH's PROTOCOL.sshsig), as created by `ssh-keygen -Y sign`.
public struct SSHFileSignature: Hashable, Sendable {
    /// The public key of the signer.
    public let publicKey: SSHPublicKey
    /// The certificate of that key, if the signer used one. Its own signature is valid.
    public let certificate: SSHCertificate?
    /// The purpose of the signature, such as `file` or `git`.
    public let namespace: String
    /// The hash of the file: SHA-256 or SHA-512.
    public let hash: HashAlgorithm
    /// The signature over ``signedData(namespace:hash:digest:)``.
    public let signature: SSHSignature

    private static let magic = Array("SSHSIG".utf8)
    private static let label = "SSH SIGNATURE"

    /// Creates a file signature.
    public init(publicKey: SSHPublicKey, namespace: String, hash: HashAlgorithm, signature: SSHSignature) {
        self.publicKey = publicKey
        certificate = nil
        self.namespace = namespace
        self.hash = hash
        self.signature = signature
    }

    /// The key or certificate of the signer in wire format.
    var signer: [UInt8] { certificate?.blob ?? publicKey.blob }

    /// Returns the data to sign for a file.
    ///
    /// - Parameters:
    ///   - namespace: The purpose of the signature; not empty.
    ///   - hash: SHA-256 or SHA-512.
    ///   - digest: The hash of the file.
    public static func signedData(namespace: String, hash: HashAlgorithm, digest: [UInt8]) -> [UInt8] {
        magic
            + SSHWriter.strings(
                Array(namespace.utf8), [], Array((hash == .sha256 ? "sha256" : "sha512").utf8), digest)
    }

    /// The content of a `.sig` file.
    public var text: String {
        var writer = SSHWriter()
        writer.append(Self.magic)
        writer.uint32(1)
        writer.string(signer)
        writer.string(namespace)
        writer.string("")
        writer.string(hash == .sha256 ? "sha256" : "sha512")
        writer.string(signature.wire)
        return SSHArmor.encode(Self.label, writer.bytes)
    }

    /// Reads a `.sig` file.
    ///
    /// - Throws: ``SSHError``.
    public init(parsing text: [UInt8]) throws(SSHError) {
        let bytes = try SSHArmor.decode(Self.label, text)
        guard bytes.starts(with: Self.magic) else { throw .malformed("this is not a signature of OpenSSH") }
        var reader = SSHReader(Array(bytes.dropFirst(Self.magic.count)))
        let version = try reader.uint32("the version")
        guard version == 1 else { throw .malformed("a signature of version \(version)") }
        let signer = try reader.string("the public key")
        var type = SSHReader(signer)
        let isCertified = SSHCertificate.isKnown(type: try type.text("the type of the key"))
        certificate = isCertified ? try SSHCertificate(blob: signer) : nil
        publicKey = if let certificate { certificate.publicKey } else { try SSHPublicKey(blob: signer) }
        namespace = try reader.text("the namespace")
        _ = try reader.string("the reserved string")
        switch try reader.text("the hash") {
        case "sha256": hash = .sha256
        case "sha512": hash = .sha512
        case let name: throw .malformed("the hash '\(name)', which is neither sha256 nor sha512")
        }
        signature = try SSHSignature(wire: try reader.string("the signature"))
        try reader.finish("the signature")
        guard !namespace.isEmpty else { throw .malformed("the namespace is empty") }
    }

    /// Whether the signature is valid for a file with this digest.
    public func isValid(digest: [UInt8]) -> Bool {
        guard digest.count == hash.digestSize else { return false }
        return signature.isValid(
            for: Self.signedData(namespace: namespace, hash: hash, digest: digest), by: publicKey)
    }
}
