// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// The certificates that vouch for keys of a virtual key: a root and a device certificate (F9), made at the first use,
/// and an attestation for each key (Yubico, "PIV attestation").
enum PIVAttestationChain {
    private static let root = "ykit virtual PIV root"
    private static let device = "ykit virtual PIV attestation"

    /// Makes root and device key; the root's private key is forgotten.
    static func make(_ key: inout VirtualKeyState, _ world: VirtualWorld) throws(Refusal) {
        let rootKey = try VirtualPIVKey.generate(0x11, world)
        let deviceKey = try VirtualPIVKey.generate(0x11, world)
        do {
            key.piv.attestationRoot = try certificate(
                rootKey.publicKey, root, signedBy: rootKey, root, serial: [1], [authority])
            key.piv.objects[PIVApplet.attestationObject] = certificateObject(
                try certificate(
                    deviceKey.publicKey, device, signedBy: rootKey, root, serial: try world.draw(8), [authority]))
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
        key.piv.keys[PIVApplet.attestationSlot] = VirtualPIVKey(
            algorithm: 0x11, der: deviceKey.der.value.copyBytes(), pinPolicy: 1, touchPolicy: 1, isImported: true)
    }

    /// The certificate of a key that was made in a slot.
    static func attestation(
        of attested: VirtualPIVKey, in slot: UInt8, _ key: VirtualKeyState
    ) throws(Refusal) -> [UInt8] {
        guard let signer = try key.piv.keys[PIVApplet.attestationSlot]?.privateKey() else {
            throw .status(.conditionsNotSatisfied)
        }
        let publicKey = try attested.privateKey().publicKey
        var serial = ByteWriter()
        serial.bigEndian(UInt64(key.profile.serial), 4)
        let digits = Array(serial.bytes.drop { $0 == 0 })
        let number = digits.first.map { $0 < 0x80 } ?? false ? digits : [0] + digits
        let facts = [
            fact(3, key.profile.version.bytes), fact(7, TLV(0x02, number).encoded),
            fact(8, [attested.pinPolicy, attested.touchPolicy]), fact(9, [key.profile.formFactor]),
        ]
        let name = "YubiKey PIV Attestation \(Hex.encode([slot]))"
        let digest = HashAlgorithm.sha256.hash(publicKey.subjectPublicKeyInfo)
        do {
            return try certificate(
                publicKey, name, signedBy: signer, device, serial: Array(digest.prefix(8)), facts)
        } catch { throw .status(.memoryFailure) }
    }

    /// What PIV holds a certificate in: 70 certificate, 71 not compressed, FE.
    private static func certificateObject(_ der: [UInt8]) -> [UInt8] {
        [TLV(0x70, der), TLV(0x71, [0]), TLV(0xFE, [])].encoded
    }

    private static func certificate(
        _ key: PublicKey, _ subject: String, signedBy signer: PrivateKey, _ issuer: String, serial: [UInt8],
        _ extensions: [[UInt8]]
    ) throws -> [UInt8] {
        let number = [(serial.first ?? 0) & 0x7F | 0x01] + serial.dropFirst()
        let content = sequence([
            TLV(0xA0, TLV(0x02, [2]).encoded).encoded, TLV(0x02, number).encoded, algorithm(signer), name(issuer),
            sequence([TLV(0x17, Array("240101000000Z".utf8)).encoded, TLV(0x18, Array("20740101000000Z".utf8)).encoded]
            ),
            name(subject), key.subjectPublicKeyInfo, TLV(0xA3, sequence(extensions)).encoded,
        ])
        let signature = try signer.sign(content, .sha256)
        return sequence([content, algorithm(signer), TLV(0x03, [0] + signature).encoded])
    }

    private static let authority = sequence([
        identifier([0x55, 0x1D, 0x13]), [0x01, 0x01, 0xFF], TLV(0x04, sequence([[0x01, 0x01, 0xFF]])).encoded,
    ])

    /// One of Yubico's extensions 1.3.6.1.4.1.41482.3.x.
    private static func fact(_ number: UInt8, _ value: [UInt8]) -> [UInt8] {
        sequence([
            identifier([0x2B, 0x06, 0x01, 0x04, 0x01, 0x82, 0xC4, 0x0A, 0x03, number]), TLV(0x04, value).encoded,
        ])
    }

    /// The signature algorithm with SHA-256: the attestation key may have been replaced by one of another kind.
    private static func algorithm(_ key: PrivateKey) -> [UInt8] {
        switch key.publicKey {
        case .rsa:
            sequence([identifier([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0B]), [0x05, 0x00]])
        case .ec: sequence([identifier([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02])])
        case .ed25519, .x25519: sequence([identifier([0x2B, 0x65, 0x70])])
        }
    }

    private static func sequence(_ parts: [[UInt8]]) -> [UInt8] { TLV(0x30, Array(parts.joined())).encoded }
    private static func identifier(_ bytes: [UInt8]) -> [UInt8] { TLV(0x06, bytes).encoded }

    private static func name(_ text: String) -> [UInt8] {
        let pair = sequence([identifier([0x55, 0x04, 0x03]), TLV(0x0C, Array(text.utf8)).encoded])
        return sequence([TLV(0x31, pair).encoded])
    }
}
