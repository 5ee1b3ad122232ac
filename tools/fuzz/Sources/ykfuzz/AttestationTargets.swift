// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTransport
import YKWire
import YKX509

private let hash = HashAlgorithm.sha256.hash("client data".utf8)

/// An object with fixed authenticator data and whatever statement.
private func object(_ format: AttestationFormat, _ statement: CBOR.Map) -> AttestationObject {
    let x: [UInt8] = [
        0x6B, 0x17, 0xD1, 0xF2, 0xE1, 0x2C, 0x42, 0x47, 0xF8, 0xBC, 0xE6, 0xE5, 0x63, 0xA4, 0x40, 0xF2, 0x77, 0x03,
        0x7D, 0x81, 0x2D, 0xEB, 0x33, 0xA0, 0xF4, 0xA1, 0x39, 0x45, 0xD8, 0x98, 0xC2, 0x96,
    ]
    let y: [UInt8] = [
        0x4F, 0xE3, 0x42, 0xE2, 0xFE, 0x1A, 0x7F, 0x9B, 0x8E, 0xE7, 0xEB, 0x4A, 0x7C, 0x0F, 0x9E, 0x16, 0x2B, 0xCE,
        0x33, 0x57, 0x6B, 0x31, 0x5E, 0xCE, 0xCB, 0xB6, 0x40, 0x68, 0x37, 0xBF, 0x51, 0xF5,
    ]
    let credential = AuthenticatorData.AttestedCredential(
        aaguid: (0..<16).map { UInt8($0) }, id: [1], publicKey: COSEKey(ec2: .p256, algorithm: .es256, x: x, y: y))
    return AttestationObject(
        format: format,
        authenticatorData: AuthenticatorData(
            rpIDHash: HashAlgorithm.sha256.hash("example.com".utf8), flags: .userPresent, counter: 0,
            credential: credential), statement: statement)
}

private func check(_ object: AttestationObject) {
    var check = AttestationVerification(rpID: "example.com")
    check.requiresPresence = false
    check.allowsSHA1 = true
    check.clock = FixedClock(1_760_000_000)
    check.anchors = TrustAnchors { $0.chain.map(\.der).suffix(1) }
    _ = try? check.check(object, clientDataHash: hash)
}

extension FuzzTarget {
    static let attestation: [FuzzTarget] = [
        FuzzTarget(name: "cose") { bytes in
            guard let key = try? COSEKey(decoding: bytes) else { return }
            require((try? COSEKey(decoding: key.encoded)) == key, "a key changes when written and read")
            try? key.verify(Array(bytes.suffix(72)), over: bytes, allowingSHA1: true)
        },
        FuzzTarget(name: "authenticator-data") { bytes in
            guard let data = try? AuthenticatorData(decoding: bytes) else { return }
            require(data.bytes == bytes, "authenticator data change when read")
            let again = AuthenticatorData(
                rpIDHash: data.rpIDHash, flags: data.flags, counter: data.counter, credential: data.credential,
                extensions: data.extensions)
            require((try? AuthenticatorData(decoding: again.bytes)) != nil, "authenticator data cannot be read again")
        },
        FuzzTarget(name: "attestation") { bytes in
            guard let object = try? AttestationObject(decoding: bytes) else { return }
            require((try? AttestationObject(decoding: object.encoded)) == object, "an object changes")
            check(object)
        },
        FuzzTarget(name: "tpm") { bytes in
            let parts = pieces(bytes)
            guard parts.count >= 2 else { return }
            let statement: CBOR.Map = [
                "ver": "2.0", "alg": -7, "sig": .bytes(bytes), "x5c": .array(parts.dropFirst(2).map(CBOR.bytes)),
                "pubArea": .bytes(parts[0]), "certInfo": .bytes(parts[1]),
            ]
            check(object(.tpm, statement))
        },
        FuzzTarget(name: "certificate") { bytes in
            guard let certificate = try? X509Certificate(der: bytes) else { return }
            require(certificate.der == bytes, "a certificate changes when read")
            decode(certificate)
            for format in [AttestationFormat.packed, .tpm, .apple, .androidKey, .fidoU2F] {
                check(object(format, ["alg": -7, "sig": .bytes(bytes), "x5c": [.bytes(bytes)]]))
            }
            try? CertificatePath([certificate, certificate]).verify(anchors: [], at: 1_760_000_000)
            try? CertificatePath([certificate]).verify(anchors: [bytes], at: 1_760_000_000)
        },
    ]
}

/// Decodes everything in a certificate that is decoded only where it is asked for.
func decode(_ certificate: X509Certificate) {
    for name in [certificate.issuer, certificate.subject] {
        require((try? DistinguishedName(der: name.encoded)) == name, "a name changes")
        _ = (name.description, name.attributes.map(\.text))
    }
    let info = certificate.subjectPublicKeyInfo
    require((try? SubjectPublicKeyInfo(der: info.encoded)) == info, "a public key changes")
    _ = certificate.extensions.keys.map(\.description)
    _ = try? certificate.basicConstraints
    _ = try? certificate.keyUsage
    _ = try? certificate.extendedKeyUsage
    _ = try? certificate.alternativeNames?.map(\.text)
    _ = try? certificate.subjectKeyIdentifier
    _ = try? certificate.authorityKeyIdentifier
}
