// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

extension PIVApplet {
    /// GENERATE ASYMMETRIC KEY PAIR (NIST SP 800-73-4 Part 2 §3.3.2).
    mutating func generate(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        try requireManagement()
        try Self.requireSlot(command.p2)
        let template = try OATHApplet.parse(command.data) { reader throws(WireError) in
            try TLV.list(try reader.value(Tag.template))
        }
        guard let algorithm = template.value(Tag.algorithm), algorithm.count == 1 else {
            throw .status(.incorrectParameters)
        }
        guard VirtualPIVKey.isKnown(algorithm[0], key.profile) else { throw .status(.incorrectParameters) }
        try Self.requireApproval(key)
        let policies = try Self.policies(template, command.p2, key.profile)
        let made = try VirtualPIVKey.generate(algorithm[0], inputs)
        key.piv.keys[command.p2] = VirtualPIVKey(
            algorithm: algorithm[0], der: made.der.value.copyBytes(), pinPolicy: policies.pin,
            touchPolicy: policies.touch, isImported: false)
        return TLV(Tag.publicKey, VirtualPIVKey.objects(made.publicKey)).encoded
    }

    /// IMPORT ASYMMETRIC KEY (Yubico).
    mutating func importKey(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        try requireManagement()
        try Self.requireSlot(command.p2)
        guard VirtualPIVKey.isKnown(command.p1, key.profile) else { throw .status(.incorrectParameters) }
        try Self.requireApproval(key)
        let objects = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.tlvs() }
        let policies = try Self.policies(objects, command.p2, key.profile)
        let taken: PrivateKey
        do { taken = try Self.key(command.p1, objects) } catch { throw .status(.incorrectParameters) }
        key.piv.keys[command.p2] = VirtualPIVKey(
            algorithm: command.p1, der: taken.der.value.copyBytes(), pinPolicy: policies.pin,
            touchPolicy: policies.touch, isImported: true)
    }

    private static func key(_ algorithm: UInt8, _ objects: [TLV]) throws(CryptoFault) -> PrivateKey {
        func bytes(_ tag: TLV.Tag, _ count: Int) throws(CryptoFault) -> [UInt8] {
            guard let value = objects.value(tag), value.count <= count else { throw CryptoFault("missing") }
            return [UInt8](repeating: 0, count: count - value.count) + value
        }
        if let size = VirtualPIVKey.modulusSizes[algorithm] {
            let numbers = try (1...5).map { tag throws(CryptoFault) in
                try bytes(TLV.Tag(rawValue: UInt32(tag)), size / 2)
            }
            let key = try PrivateKey(remainders: numbers)
            guard case .rsa(let modulus, _) = key.publicKey, modulus.count == size else {
                throw CryptoFault("another length")
            }
            return key
        }
        if let curve = VirtualPIVKey.curves[algorithm] {
            return try PrivateKey(curve, scalar: Secret(try bytes(0x06, curve.fieldSize)))
        }
        if algorithm == VirtualPIVKey.ed25519 { return try PrivateKey(ed25519: Secret(try bytes(0x07, 32))) }
        return try PrivateKey(x25519: Secret(try bytes(0x08, 32)))
    }

    /// A YubiKey 5 FIPS with firmware 5.7 accepts keys only after PIN, PUK and management key were changed.
    private static func requireApproval(_ key: VirtualKeyState) throws(Refusal) {
        guard !key.profile.isFIPS57 || key.piv.hasOwnSecrets else { throw .status(.conditionsNotSatisfied) }
    }

    /// The policies of a new key; the defaults depend on the slot.
    private static func policies(
        _ objects: [TLV], _ slot: UInt8, _ profile: DeviceProfile
    ) throws(Refusal) -> (pin: UInt8, touch: UInt8) {
        func policy(_ tag: TLV.Tag, _ range: ClosedRange<UInt8>) throws(Refusal) -> UInt8 {
            guard let value = objects.value(tag) else { return 0 }
            guard profile.version >= FirmwareVersion(4, 0, 0), value.count == 1, range.contains(value[0]) else {
                throw .status(.incorrectParameters)
            }
            return value[0]
        }
        let pin = try policy(Tag.pinPolicy, 0...(profile.isBio ? 5 : 3))
        let touch = try policy(Tag.touchPolicy, 0...(profile.version >= FirmwareVersion(4, 3, 0) ? 3 : 2))
        // A FIPS key rejects the PIN policy "never".
        if pin == 1, profile.isFIPS { throw .status(.incorrectParameters) }
        let standard: UInt8 =
            slot == PIVProtocol.Slot.signature ? 3 : slot == PIVProtocol.Slot.cardAuthentication ? 1 : 2
        return (pin == 0 ? standard : pin, touch == 0 ? 1 : touch)
    }

    /// MOVE KEY (Yubico, firmware 5.7): moves a key to an empty slot; FF as the destination deletes it.
    mutating func moveKey(_ command: APDU, _ memory: inout PIVMemory) throws(Refusal) {
        try requireManagement()
        try Self.requireSlot(command.p2)
        guard let key = memory.keys[command.p2] else { throw .status(.referenceNotFound) }
        if command.p1 != PIVProtocol.deleted {
            try Self.requireSlot(command.p1)
            guard command.p1 != Self.attestationSlot, command.p2 != Self.attestationSlot else {
                throw .status(.commandNotAllowed)
            }
            guard memory.keys[command.p1] == nil else { throw .status(.incorrectParameters) }
            memory.keys[command.p1] = key
        }
        memory.keys[command.p2] = nil
    }

    /// ATTEST (Yubico, firmware 4.3): returns a certificate for a key generated on the device.
    func attest(_ command: APDU, _ key: VirtualKeyState, _ inputs: VirtualInputs) throws(Refusal) -> [UInt8] {
        try Self.requireSlot(command.p1)
        guard let attested = key.piv.keys[command.p1] else {
            throw .status(key.profile.version >= FirmwareVersion(5, 3, 0) ? .incorrectParameters : .referenceNotFound)
        }
        guard !attested.isImported, command.p1 != Self.attestationSlot else { throw .status(.incorrectParameters) }
        return try PIVAttestationChain.attestation(of: attested, in: command.p1, key, inputs)
    }

    /// GET METADATA (Yubico, firmware 5.3).
    func metadata(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        guard command.p1 == 0 else { throw .status(StatusWord(0x6A86)) }
        let memory = key.piv
        switch command.p2 {
        case Self.pinReference: return Self.metadata(memory.pin, PIVMemory.defaultPIN)
        case PIVProtocol.Reference.puk: return Self.metadata(memory.puk, PIVMemory.defaultPUK)
        case Self.fingerReference where key.profile.isBio: return fingerMetadata(key.fido)
        case Self.managementSlot:
            let isDefault = memory.managementKey == PIVMemory.defaultManagementKey
            return [
                TLV(MetadataTag.algorithm, [memory.managementAlgorithm(key.profile.version)]),
                TLV(MetadataTag.policies, [0, memory.managementTouch ? 2 : 1]),
                TLV(MetadataTag.isDefault, [isDefault ? 1 : 0]),
            ].encoded
        default: break
        }
        guard let slot = memory.keys[command.p2] else { throw .status(.referenceNotFound) }
        return [
            TLV(MetadataTag.algorithm, [slot.algorithm]),
            TLV(MetadataTag.policies, [slot.pinPolicy, slot.touchPolicy]),
            TLV(MetadataTag.origin, [slot.isImported ? 2 : 1]),
            TLV(MetadataTag.publicKey, VirtualPIVKey.objects(try slot.publicKey())),
        ].encoded
    }

    private static func metadata(_ code: PIVMemory.Code, _ factory: [UInt8]) -> [UInt8] {
        [
            TLV(MetadataTag.algorithm, [0xFF]), TLV(MetadataTag.isDefault, [code.value == factory ? 1 : 0]),
            TLV(MetadataTag.retries, [code.total, code.left]),
        ].encoded
    }
}

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
