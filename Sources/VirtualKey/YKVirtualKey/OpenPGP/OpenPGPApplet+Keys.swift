// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// A key type, as encoded in algorithm attributes (§4.4.3.9).
enum VirtualOpenPGPAlgorithm: Hashable {
    case rsa(bits: Int)
    case curve(VerificationKey.Curve)
    case ed25519
    case x25519

    static let curve25519: [([UInt8], Self)] = [
        ([0x2B, 0x06, 0x01, 0x04, 0x01, 0xDA, 0x47, 0x0F, 0x01], .ed25519),
        ([0x2B, 0x06, 0x01, 0x04, 0x01, 0x97, 0x55, 0x01, 0x05, 0x01], .x25519),
    ]

    /// Parses attributes that the card has accepted.
    init?(_ attributes: [UInt8]) {
        if attributes.first == 0x01, attributes.count >= 5 {
            self = .rsa(bits: Int(attributes[1]) << 8 | Int(attributes[2]))
            return
        }
        let rest = attributes.dropFirst()
        let curves = VerificationKey.Curve.allCases.map { ($0.objectIdentifier, Self.curve($0)) } + Self.curve25519
        guard let match = curves.first(where: { rest.starts(with: $0.0) }) else { return nil }
        self = match.1
    }

    /// Generates a key: scalars on curves from the key's randomness, RSA with OpenSSL.
    func generate(_ inputs: VirtualInputs) throws(Refusal) -> PrivateKey {
        if case .rsa(let bits) = self {
            return try inputs.keyPairs.take(bits)
        }
        for _ in 0..<64 {
            if let key = try? candidate(try inputs.draw(size)) { return key }
        }
        throw .status(.memoryFailure)
    }

    private var size: Int { if case .curve(let curve) = self { curve.fieldSize } else { 32 } }

    private func candidate(_ random: [UInt8]) throws(CryptoFault) -> PrivateKey {
        switch self {
        case .rsa: throw CryptoFault("not a key on a curve")
        case .ed25519: return try PrivateKey(ed25519: Secret(random))
        case .x25519: return try PrivateKey(x25519: Secret(random))
        case .curve(let curve):
            var number = random
            // The order of P-521 has 521 bits in 66 bytes.
            if curve == .p521 { number[0] &= 0x01 }
            return try PrivateKey(curve, scalar: Secret(number))
        }
    }
}

extension OpenPGPApplet {
    /// The attributes of a slot.
    func attributes(of slot: VirtualOpenPGPSlot, _ key: VirtualKeyState) -> [UInt8] {
        key.openPGP[slot].attributes ?? Self.rsa(2048, key.profile)
    }

    private static func rsa(_ bits: Int, _ profile: DeviceProfile) -> [UInt8] {
        [0x01, UInt8(bits >> 8), UInt8(bits & 0xFF), 0x00, profile.isPlainOpenPGP ? 0x20 : 0x11, 0x00]
    }

    /// The attributes supported by a slot, in the order of FA. Up to firmware 5.6.0, a YubiKey lists both keys on
    /// Curve25519 as EdDSA in all slots.
    static func algorithms(_ slot: VirtualOpenPGPSlot, _ profile: DeviceProfile) -> [[UInt8]] {
        let isOld = !profile.isPlainOpenPGP && profile.version < FirmwareVersion(5, 6, 1)
        let kind: UInt8 = slot == .decryption ? 0x12 : 0x13
        var curves = VerificationKey.Curve.allCases
        if profile.isFIPS { curves.removeAll { $0 == .secp256k1 } }
        var list = [2048, 3072, 4096].map { rsa($0, profile) } + curves.map { [kind] + $0.objectIdentifier }
        let (ed25519, x25519) = (
            VirtualOpenPGPAlgorithm.curve25519[0].0, VirtualOpenPGPAlgorithm.curve25519[1].0
        )
        if isOld {
            list += [[0x16] + ed25519, [0x16] + x25519]
        } else if slot == .decryption {
            if !profile.isFIPS { list.append([0x12] + x25519) }
        } else if slot != .attestation {
            list.append([0x16] + ed25519)
        }
        return list
    }

    /// FA (§4.4.3.11). Firmware 5.4.3 reports a length that is two too large.
    func algorithmInformation(_ profile: DeviceProfile) -> [UInt8] {
        let list = Self.slots(profile).flatMap { slot in
            Self.algorithms(slot, profile).map { TLV(Self.attributesTag(slot), $0) }
        }
        guard !profile.isPlainOpenPGP else { return list.encoded }
        guard profile.version < FirmwareVersion(5, 6, 1) else {
            return TLV(Tag.algorithmInformation, list.encoded).encoded
        }
        return Tag.algorithmInformation.bytes + TLV.lengthField(list.encoded.count + 2) + list.encoded
    }

    /// PUT DATA C1, C2, C3 and DA; changing the attributes deletes the key.
    func putAttributes(
        _ value: [UInt8], _ slot: VirtualOpenPGPSlot, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        let profile = key.profile
        let isPlain = profile.isPlainOpenPGP
        var accepted = Self.algorithms(slot, profile)
        // ECDH on Curve25519 is 12; firmware up to 5.6.0 also accepts 16.
        if !isPlain, slot == .decryption, profile.version < FirmwareVersion(5, 6, 1) {
            accepted.append([0x12] + VirtualOpenPGPAlgorithm.curve25519[1].0)
        }
        var plain = value
        if isPlain, plain.first != 0x01, plain.last == 0x00 || plain.last == 0xFF { plain.removeLast() }
        if plain.first == 0x01, plain.count == 5 { plain.append(0x00) }
        if plain.first == 0x01, plain.count == 6 {
            // Exponent lengths of 17 and 32 bits both mean 65537; GnuPG writes the latter to YubiKeys, too.
            guard plain[3] == 0, [0x11, 0x20].contains(plain[4]), plain[5] <= 3 else {
                throw .status(.incorrectParameters)
            }
            let standard = Self.rsa(2048, profile)
            plain.replaceSubrange(3..., with: standard[3...])
        }
        guard accepted.contains(plain) else { throw .status(.incorrectParameters) }
        guard value != attributes(of: slot, key) else { return }
        key.openPGP[slot].attributes = value == Self.rsa(2048, profile) ? nil : value
        key.openPGP[slot].key = nil
        forget(slot, &key)
    }

    /// Deletes what belongs to a removed key.
    private func forget(_ slot: VirtualOpenPGPSlot, _ key: inout VirtualKeyState) {
        if slot == .signature { key.openPGP.counter = 0 }
        guard !key.profile.isPlainOpenPGP else { return }
        key.openPGP[slot].touch = 0
    }

    /// A FIPS key with firmware 5.7 accepts keys only after both default PINs were changed.
    private static func requireApproval(_ key: VirtualKeyState) throws(Refusal) {
        guard !key.profile.isFIPS57 || !key.openPGP.usesDefaultPINs else { throw .status(.conditionsNotSatisfied) }
    }

    /// GENERATE ASYMMETRIC KEY PAIR (§7.2.14): generates a key with P1 80, reads the public key of the existing one
    /// with 81.
    mutating func generate(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard [OpenPGPProtocol.KeyPair.generate, OpenPGPProtocol.KeyPair.read].contains(command.p1), command.p2 == 0
        else {
            throw .status(Self.wrongParameters(key.profile))
        }
        let slot = try Self.slot(try? TLV.list(command.data), key.profile)
        if command.p1 == OpenPGPProtocol.KeyPair.generate {
            try requireAdmin()
            try Self.requireApproval(key)
            guard let algorithm = VirtualOpenPGPAlgorithm(attributes(of: slot, key)) else {
                throw .status(.conditionsNotSatisfied)
            }
            let made = try algorithm.generate(inputs)
            key.openPGP[slot].key = OpenPGPMemory.Key(der: made.der.value.copyBytes(), isImported: false)
            forget(slot, &key)
        }
        guard let present = try key.openPGP[slot].key?.privateKey() else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .memoryFailure)
        }
        return TLV(KeyTag.publicKey, VirtualPIVKey.objects(present.publicKey)).encoded
    }

    private static func slot(_ templates: [TLV]?, _ profile: DeviceProfile) throws(Refusal) -> VirtualOpenPGPSlot {
        guard let templates, templates.count == 1, let slot = VirtualOpenPGPSlot(templates[0]),
            slots(profile).contains(slot)
        else { throw .status(.incorrectParameters) }
        return slot
    }

    /// PUT DATA with an extended header list (§4.4.3.12): imports a private key.
    mutating func importKey(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.parameters == OpenPGPProtocol.headerListReference else {
            throw .status(Self.wrongParameters(key.profile))
        }
        try requireAdmin()
        try Self.requireApproval(key)
        guard let list = try? TLV.list(command.data), list.count == 1, list[0].tag == KeyTag.headerList,
            let (template, parts) = try? Self.parts(list[0].value)
        else { throw .status(.incorrectParameters) }
        let slot = try Self.slot([template], key.profile)
        if parts.isEmpty, key.profile.isPlainOpenPGP {
            key.openPGP[slot].key = nil
            forget(slot, &key)
            return
        }
        guard let algorithm = VirtualOpenPGPAlgorithm(attributes(of: slot, key)),
            let taken = try? Self.key(algorithm, parts)
        else { throw .status(.incorrectParameters) }
        key.openPGP[slot].key = OpenPGPMemory.Key(der: taken.der.value.copyBytes(), isImported: true)
        forget(slot, &key)
    }

    /// The control reference template, and the values in 5F48 by the tags that 7F48 lists for them.
    private static func parts(_ bytes: [UInt8]) throws(WireError) -> (TLV, [TLV.Tag: [UInt8]]) {
        var reader = ByteReader(bytes)
        let template = try reader.tlv()
        if reader.isAtEnd { return (template, [:]) }
        var lengths = try reader.tlv(KeyTag.privateLengths, "the lengths of the parts")
        var values = try reader.tlv(KeyTag.privateValues, "the parts")
        try reader.finish()
        var parts: [TLV.Tag: [UInt8]] = [:]
        while !lengths.isAtEnd {
            let tag = try lengths.tlvTag()
            guard parts[tag] == nil else { throw WireError(.malformed, at: lengths.offset, "a duplicate part") }
            parts[tag] = try values.bytes(try lengths.tlvLength(), "a part")
        }
        try values.finish()
        return (template, parts)
    }

    private static func key(
        _ algorithm: VirtualOpenPGPAlgorithm, _ parts: [TLV.Tag: [UInt8]]
    ) throws(CryptoFault) -> PrivateKey {
        func part(_ tag: TLV.Tag, _ size: Int) throws(CryptoFault) -> [UInt8] {
            guard let value = parts[tag], !value.isEmpty else { throw CryptoFault("missing") }
            let digits = value.padded(to: size)
            guard digits.count == size else { throw CryptoFault("too long") }
            return digits
        }
        let key: PrivateKey
        switch algorithm {
        case .rsa(let bits):
            guard try part(KeyTag.privateExponent, 4) == [0, 1, 0, 1] else { throw CryptoFault("another exponent") }
            key = try PrivateKey(primes: try part(KeyTag.prime1, bits / 16), try part(KeyTag.prime2, bits / 16))
            guard case .rsa(let modulus, _) = key.publicKey, modulus.count == bits / 8 else {
                throw CryptoFault("another length")
            }
        case .curve(let curve): key = try PrivateKey(curve, scalar: Secret(try part(KeyTag.prime1, curve.fieldSize)))
        case .ed25519: key = try PrivateKey(ed25519: Secret(try part(KeyTag.prime1, 32)))
        case .x25519: key = try PrivateKey(x25519: Secret(try part(KeyTag.prime1, 32).reversed()))
        }
        guard parts[KeyTag.privatePoint].map({ $0 == key.publicPoint }) ?? true else {
            throw CryptoFault("a different public key")
        }
        return key
    }
}

extension PrivateKey {
    fileprivate var publicPoint: [UInt8] {
        switch publicKey {
        case .rsa: []
        case .ec(_, let point), .ed25519(let point), .x25519(let point): point
        }
    }
}

extension OpenPGPMemory.Key {
    func privateKey() throws(Refusal) -> PrivateKey {
        do { return try PrivateKey(der: Secret(der)) } catch { throw .status(.memoryFailure) }
    }
}

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
