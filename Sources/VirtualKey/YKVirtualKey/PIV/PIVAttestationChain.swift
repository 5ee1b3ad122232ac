// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// The certificates that attest keys of a virtual key: a root and a device certificate (F9), created on first use, and
/// an attestation for each key (Yubico, "PIV attestation").
enum PIVAttestationChain {
    private static let root = "ykit virtual PIV root"
    private static let device = "ykit virtual PIV attestation"

    /// Creates the root and the device key; the root's private key is discarded.
    static func make(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) throws(Refusal) {
        let rootKey = try VirtualPIVKey.generate(0x11, inputs)
        let deviceKey = try VirtualPIVKey.generate(0x11, inputs)
        do {
            key.piv.attestationRoot = try VirtualCertificate.make(
                rootKey.publicKey, root, signedBy: rootKey, root, serial: [1], [VirtualCertificate.authority])
            key.piv.objects[PIVApplet.attestationObject] = certificateObject(
                try VirtualCertificate.make(
                    deviceKey.publicKey, device, signedBy: rootKey, root, serial: try inputs.draw(8),
                    [VirtualCertificate.authority]))
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
        key.piv.keys[PIVApplet.attestationSlot] = VirtualPIVKey(
            algorithm: 0x11, der: deviceKey.der.value.copyBytes(), pinPolicy: 2, touchPolicy: 1, isImported: true)
    }

    /// The attestation certificate for a key generated in a slot.
    static func attestation(
        of attested: VirtualPIVKey, in slot: UInt8, _ key: VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let own = try? TLV.list(key.piv.objects[PIVApplet.attestationObject] ?? []).value(0x70)
        guard let signer = try key.piv.keys[PIVApplet.attestationSlot]?.privateKey(),
            let issuer = own.flatMap(VirtualCertificate.subject(of:))
        else { throw .status(.incorrectParameters) }
        let publicKey = try attested.publicKey()
        var serial = ByteWriter()
        serial.bigEndian(UInt64(key.profile.serial), 4)
        let digits = Array(serial.bytes.drop { $0 == 0 })
        let number = digits.first.map { $0 < 0x80 } ?? false ? digits : [0] + digits
        let facts = [
            VirtualCertificate.fact([0x03, 3], key.profile.version.bytes),
            VirtualCertificate.fact([0x03, 7], TLV(0x02, number).encoded),
            VirtualCertificate.fact([0x03, 8], [attested.pinPolicy, attested.touchPolicy]),
            VirtualCertificate.fact([0x03, 9], [key.profile.formFactor]),
        ]
        let name = "YubiKey PIV Attestation \(Hex.encode([slot]))"
        do {
            return try VirtualCertificate.make(
                publicKey, name, signedBy: signer, issuerName: issuer, serial: try inputs.draw(16), facts)
        } catch let refusal as Refusal { throw refusal } catch { throw .status(.memoryFailure) }
    }

    /// Encodes a PIV certificate object: 70 certificate, 71 not compressed, FE.
    private static func certificateObject(_ der: [UInt8]) -> [UInt8] {
        [TLV(0x70, der), TLV(0x71, [0]), TLV(0xFE, [])].encoded
    }
}
