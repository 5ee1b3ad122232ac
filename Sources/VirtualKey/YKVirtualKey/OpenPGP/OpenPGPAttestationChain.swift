// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// The certificates that attest keys of the OpenPGP application: a root and the certificate of the attestation key,
/// created on first use, and an attestation for each key (Yubico, "PGP attestation").
enum OpenPGPAttestationChain {
    private static let root = "ykit virtual OpenPGP root"
    private static let device = "ykit virtual OpenPGP attestation"

    /// Creates the root and the P-256 attestation key; the root's private key is discarded.
    static func make(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) throws(Refusal) {
        let rootKey = try VirtualOpenPGPAlgorithm.curve(.p256).generate(inputs)
        let deviceKey = try VirtualOpenPGPAlgorithm.curve(.p256).generate(inputs)
        do {
            key.openPGP.attestationRoot = try VirtualCertificate.make(
                rootKey.publicKey, root, signedBy: rootKey, root, serial: [1], [VirtualCertificate.authority])
            key.openPGP[.attestation].certificate = try VirtualCertificate.make(
                deviceKey.publicKey, device, signedBy: rootKey, root, serial: try inputs.draw(8),
                [VirtualCertificate.authority])
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
        key.openPGP[.attestation].attributes = [0x13] + VerificationKey.Curve.p256.objectIdentifier
        key.openPGP[.attestation].key = OpenPGPMemory.Key(der: deviceKey.der.value.copyBytes(), isImported: true)
    }

    /// The attestation certificate for the key of a slot, signed by the attestation key.
    static func statement(
        on slot: VirtualOpenPGPSlot, _ attested: PrivateKey, _ key: VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard let signer = try key.openPGP[.attestation].key?.privateKey() else {
            throw .status(.conditionsNotSatisfied)
        }
        switch signer.publicKey {
        case .ed25519, .x25519: throw .status(.conditionsNotSatisfied)
        case .rsa, .ec: break
        }
        let (data, profile) = (key.openPGP[slot], key.profile)
        var facts: [(UInt8, TLV)] = [
            (1, TLV(0x0C, key.openPGP.objects[OpenPGPProtocol.Tag.name] ?? [])),
            (2, number(data.key?.isImported == true ? 0 : 1)),
        ]
        facts.append((3, TLV(0x04, profile.version.bytes)))
        facts.append((4, TLV(0x04, data.fingerprint)))
        facts.append((5, TLV(0x04, data.time)))
        if slot == .signature { facts.append((6, number(key.openPGP.counter))) }
        facts.append((7, number(profile.serial)))
        facts.append((8, TLV(0x04, [data.touch])))
        facts.append((9, TLV(0x04, [profile.formFactor])))
        let names: [VirtualOpenPGPSlot: String] = [.signature: "SIG", .decryption: "DEC", .authentication: "AUT"]
        let issuer = VirtualCertificate.subject(of: key.openPGP[.attestation].certificate)
        do {
            return try VirtualCertificate.make(
                attested.publicKey, "YubiKey OPGP Attestation \(names[slot] ?? "")", signedBy: signer,
                issuerName: issuer ?? VirtualCertificate.name(device), serial: try inputs.draw(16),
                facts.map { VirtualCertificate.fact([0x05, $0.0], $0.1.encoded) })
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
    }

    /// A positive DER integer.
    private static func number(_ value: UInt32) -> TLV {
        let bytes: [UInt8] = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        let digits = Array(bytes.drop { $0 == 0 })
        let isPositive = digits.first.map { $0 < 0x80 } ?? false
        return TLV(0x02, isPositive ? digits : [0] + digits)
    }
}

extension OpenPGPApplet {
    /// GET ATTESTATION (Yubico, firmware 5.2.1): writes an attestation of a key generated on the card to the slot's
    /// certificate. Requires the user PIN, and a touch according to the attestation key's policy.
    mutating func attest(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) {
        guard command.p2 == 0, let slot = VirtualOpenPGPSlot(rawValue: command.p1), slot != .attestation else {
            throw .status(Self.wrongParameters(key.profile))
        }
        guard verified.contains(OpenPGPProtocol.Password.signing) else { throw .status(.securityStatusNotSatisfied) }
        guard let data = key.openPGP[slot].key, !data.isImported else { throw .status(.conditionsNotSatisfied) }
        try touch(.attestation, key, inputs)
        key.openPGP[slot].certificate = try OpenPGPAttestationChain.statement(
            on: slot, try data.privateKey(), key, inputs)
        if signatureMode(key) == 0 { verified.remove(OpenPGPProtocol.Password.signing) }
    }
}
