// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension OpenPGPApplet {
    /// The slots of the cardholder certificates in the order of SELECT DATA (§7.2.5).
    static let certificateOrder: [VirtualOpenPGPSlot] = [.authentication, .decryption, .signature]

    /// GET DATA (§7.2.6). A YubiKey puts the tag before the content of 65, 6E, 73, 7A, FA and 7F74; other cards do not.
    func getData(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        let tag = OpenPGPProtocol.object(of: command)
        let memory = key.openPGP
        switch tag {
        case Tag.optional[2]: guard verified.contains(Password.user) else { throw .status(.securityStatusNotSatisfied) }
        case Tag.optional[3]: try requireAdmin()
        default: break
        }
        switch tag {
        case Tag.loginData, Tag.url,
            _ where Tag.optional.contains(tag):
            return memory.objects[tag] ?? []
        case Tag.certificate: return memory[Self.certificateOrder[occurrence]].certificate
        case Tag.attestationCertificate where !key.profile.isPlainOpenPGP: return memory[.attestation].certificate
        case Tag.kdf where memory.kdf.isEmpty: return TLV(KDFTag.algorithm, [OpenPGPProtocol.KDFValue.none]).encoded
        case Tag.kdf: return memory.kdf
        case Tag.algorithmInformation: return algorithmInformation(key.profile)
        default: break
        }
        guard let object = objects(key).first(where: { $0.tag == tag }) else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .wrongParameters)
        }
        let isWrapped = !key.profile.isPlainOpenPGP && (object.tag.isConstructed || tag == Tag.features)
        return isWrapped ? object.encoded : object.value
    }

    /// GET NEXT DATA (§7.2.7): the next cardholder certificate.
    mutating func getNextData(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        guard OpenPGPProtocol.object(of: command) == Tag.certificate else {
            throw .status(Self.wrongParameters(key.profile))
        }
        guard occurrence < 2 else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .incorrectParameters)
        }
        occurrence += 1
        return key.openPGP[Self.certificateOrder[occurrence]].certificate
    }

    /// SELECT DATA (§7.2.5); up to firmware 5.4.3 preceded by the length of the list.
    mutating func selectData(_ command: APDU, _ profile: DeviceProfile) throws(Refusal) {
        guard command.p2 == OpenPGPProtocol.selectDataP2 else { throw .status(Self.wrongParameters(profile)) }
        let list = OpenPGPProtocol.certificateList
        let isOdd = !profile.isPlainOpenPGP && profile.version <= FirmwareVersion(5, 4, 3)
        guard command.data == (isOdd ? [UInt8(list.count)] + list : list) else { throw .status(.incorrectParameters) }
        guard command.p1 <= 2 else { throw .status(.referenceNotFound) }
        occurrence = Int(command.p1)
    }

    /// The readable data objects and those nested in them.
    private func objects(_ key: VirtualKeyState) -> [TLV] {
        let (profile, memory) = (key.profile, key.openPGP)
        let discretionary = discretionary(key)
        let lengths = profile.isPlainOpenPGP ? [TLV(Tag.extendedLength, Self.lengths(profile))] : []
        let application =
            [
                TLV(Tag.applicationIdentifier, Self.identifier(profile)),
                TLV(Tag.historicalBytes, Self.historical(profile)),
            ] + lengths
            + [Self.features, TLV(Tag.discretionary, discretionary.encoded)]
        let counter = TLV(
            Tag.signatureCounter, (0..<3).map { UInt8(truncatingIfNeeded: memory.counter >> (16 - 8 * UInt32($0))) })
        let holder = [
            TLV(Tag.name, memory.objects[Tag.name] ?? []), TLV(Tag.language, memory.objects[Tag.language] ?? []),
            TLV(Tag.sex, memory.objects[Tag.sex] ?? [0x39]),
        ]
        let direct: Set<TLV.Tag> = [
            Tag.pinStatus, Tag.signatureTouch, Tag.decryptionTouch, Tag.authenticationTouch, Tag.keyInformation,
        ]
        let others: Set<TLV.Tag> =
            profile.isPlainOpenPGP
            ? [
                Tag.signatureAlgorithm, Tag.decryptionAlgorithm, Tag.authenticationAlgorithm, Tag.fingerprints,
                Tag.authorityFingerprints, Tag.generationTimes,
            ] : [Tag.attestationTouch, Tag.extendedLength]
        return application + discretionary.filter { direct.union(others).contains($0.tag) }
            + [
                TLV(Tag.cardholder, holder.encoded), TLV(Tag.application, application.encoded),
                TLV(Tag.securitySupport, counter.encoded), counter,
            ] + (profile.isPlainOpenPGP ? holder : [])
    }

    private func discretionary(_ key: VirtualKeyState) -> [TLV] {
        let (profile, memory) = (key.profile, key.openPGP)
        let slots = Self.slots(profile)
        func join(_ part: (OpenPGPMemory.SlotData) -> [UInt8]) -> [UInt8] { slots.flatMap { part(memory[$0]) } }
        let attributes = slots.map { TLV(Self.attributesTag($0), self.attributes(of: $0, key)) }
        let touch = slots.map { TLV(Self.touchTag($0), [memory[$0].touch, OpenPGPProtocol.button]) }
        let states = slots.flatMap { slot -> [UInt8] in
            [slot.rawValue, memory[slot].key.map { $0.isImported ? 2 : 1 } ?? 0]
        }
        let lengths = profile.isPlainOpenPGP ? [] : [TLV(Tag.extendedLength, Self.lengths(profile))]
        return [TLV(Tag.extendedCapabilities, Self.extendedCapabilities(profile))] + attributes
            + [
                TLV(Tag.pinStatus, pinStatus(key)), TLV(Tag.fingerprints, join(\.fingerprint)),
                TLV(Tag.authorityFingerprints, join(\.authority)),
                TLV(Tag.generationTimes, join(\.time)), TLV(Tag.keyInformation, states),
            ] + lengths + touch
    }

    private func pinStatus(_ key: VirtualKeyState) -> [UInt8] {
        let limit = UInt8(OpenPGPMemory.pinLimit)
        let memory = key.openPGP
        return [signatureMode(key), limit, limit, limit, memory.user.left, memory.reset.left, memory.admin.left]
    }

    /// 00 if each signature requires the PIN again, 01 if one VERIFY is enough.
    func signatureMode(_ key: VirtualKeyState) -> UInt8 {
        key.openPGP.signatureMode ?? (key.profile.isPlainOpenPGP ? 0 : 1)
    }

    static func slots(_ profile: DeviceProfile) -> [VirtualOpenPGPSlot] {
        let standard: [VirtualOpenPGPSlot] = [.signature, .decryption, .authentication]
        return profile.isPlainOpenPGP ? standard : standard + [.attestation]
    }

    static func attributesTag(_ slot: VirtualOpenPGPSlot) -> TLV.Tag {
        attributesTags[slot.index]
    }

    static func touchTag(_ slot: VirtualOpenPGPSlot) -> TLV.Tag { touchTags[slot.index] }

    // The tags of the parts of each slot, in the order of the slots.
    private static let attributesTags = [
        Tag.signatureAlgorithm, Tag.decryptionAlgorithm, Tag.authenticationAlgorithm, Tag.attestationAlgorithm,
    ]
    private static let fingerprintTags = [
        Tag.signatureFingerprint, Tag.decryptionFingerprint, Tag.authenticationFingerprint, Tag.attestationFingerprint,
    ]
    private static let authorityTags = Tag.authorityFingerprintParts + [Tag.attestationAuthorityFingerprint]
    private static let timeTags = [
        Tag.signatureTime, Tag.decryptionTime, Tag.authenticationTime, Tag.attestationTime,
    ]
    private static let touchTags = [
        Tag.signatureTouch, Tag.decryptionTouch, Tag.authenticationTouch, Tag.attestationTouch,
    ]

    // 7F74: a button.
    private static let features = TLV(Tag.features, [0x81, 0x01, 0x20])

    /// 4F (§4.2.1). Yubico encodes the serial number in decimal digits.
    private static func identifier(_ profile: DeviceProfile) -> [UInt8] {
        let maker: [UInt8] = profile.isPlainOpenPGP ? [0xFF, 0xFE] : [0x00, 0x06]
        var serial = profile.serial
        if !profile.isPlainOpenPGP {
            serial = String(profile.serial % 100_000_000).utf8.reduce(0) { $0 << 4 | UInt32($1 & 15) }
        }
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: serial >> (24 - 8 * UInt32($0))) }
        return AID.openPGP.rawValue + [0x03, 0x04] + maker + digits + [0x00, 0x00]
    }

    private static func historical(_ profile: DeviceProfile) -> [UInt8] {
        if profile.isGnuk { return [0x00, 0x31, 0x84, 0x73, 0x80, 0x01, 0x80, 0x05, 0x90, 0x00] }
        return profile.isPlainOpenPGP
            ? [0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x05, 0x90, 0x00]
            : [0x00, 0x73, 0x00, 0x00, 0xE0, 0x05, 0x90, 0x00]
    }

    private static func extendedCapabilities(_ profile: DeviceProfile) -> [UInt8] {
        profile.isPlainOpenPGP
            ? [0x7F, 0x00, 0x00, 0x20, 0x08, 0x00, 0x00, 0xFF, 0x01, 0x00]
            : [0x7D, 0x00, 0x0B, 0xFE, 0x08, 0x00, 0x00, 0xFF, 0x00, 0x00]
    }

    private static func lengths(_ profile: DeviceProfile) -> [UInt8] {
        let limit: [UInt8] = profile.isPlainOpenPGP ? [0x08, 0x00] : [0x0B, 0xFE]
        return [0x02, 0x02] + limit + [0x02, 0x02] + limit
    }

    /// PUT DATA (§7.2.8).
    mutating func putData(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let tag = OpenPGPProtocol.object(of: command)
        if tag == Tag.optional[0] || tag == Tag.optional[2] {
            guard verified.contains(Password.user) else { throw .status(.securityStatusNotSatisfied) }
        } else {
            try requireAdmin()
        }
        let value = command.data
        switch tag {
        case Tag.loginData, Tag.url,
            _ where Tag.optional.contains(tag):
            try put(value, 0...0xFF, tag, &key)
        case Tag.name: try put(value, 0...39, tag, &key)
        case Tag.language: try put(value, [0, 2, 4, 6, 8].contains(value.count) ? 0...8 : 9...9, tag, &key)
        case Tag.sex:
            guard [[0x30], [0x31], [0x32], [0x39]].contains(value) else { throw .status(.incorrectParameters) }
            key.openPGP.objects[tag] = value
        case Tag.certificate: try putCertificate(value, Self.certificateOrder[occurrence], &key)
        case Tag.attestationCertificate where !key.profile.isPlainOpenPGP: try putCertificate(value, .attestation, &key)
        case Tag.pinStatus:
            guard value.count == 1 || value.count == 4, value[0] <= 1 else { throw .status(.incorrectParameters) }
            key.openPGP.signatureMode = value[0]
        case Tag.resettingCode: try putResetCode(value, &key)
        case Tag.encipheringKey where key.profile.isPlainOpenPGP:
            guard [16, 24, 32].contains(value.count) else { throw .status(.incorrectParameters) }
            key.openPGP.aes = value
        case Tag.kdf: try putKDF(value, &key)
        default: try putSlotData(value, tag, &key)
        }
    }

    private func put(
        _ value: [UInt8], _ lengths: ClosedRange<Int>, _ tag: TLV.Tag, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        guard lengths.contains(value.count) else { throw .status(.wrongLength) }
        key.openPGP.objects[tag] = value.isEmpty ? nil : value
    }

    private func putCertificate(
        _ value: [UInt8], _ slot: VirtualOpenPGPSlot, _ key: inout VirtualKeyState
    ) throws(Refusal) {
        guard value.count <= 0x800 else { throw .status(.wrongLength) }
        key.openPGP[slot].certificate = value
    }

    /// Writes attributes, fingerprints, times and touch policy of one slot.
    private func putSlotData(_ value: [UInt8], _ tag: TLV.Tag, _ key: inout VirtualKeyState) throws(Refusal) {
        let slots = Self.slots(key.profile)
        func slot(_ tags: [TLV.Tag]) -> VirtualOpenPGPSlot? {
            zip(tags, slots).first { $0.0 == tag }?.1
        }
        func fixed(_ count: Int) throws(Refusal) -> [UInt8] {
            if value.isEmpty, key.profile.isPlainOpenPGP { return [UInt8](repeating: 0, count: count) }
            guard value.count == count else { throw .status(.incorrectParameters) }
            return value
        }
        if let slot = slot(Self.attributesTags) {
            try putAttributes(value, slot, &key)
        } else if let slot = slot(Self.fingerprintTags) {
            key.openPGP[slot].fingerprint = try fixed(20)
        } else if let slot = slot(Self.authorityTags) {
            key.openPGP[slot].authority = try fixed(20)
        } else if let slot = slot(Self.timeTags) {
            key.openPGP[slot].time = try fixed(4)
        } else if let slot = slot(Self.touchTags) {
            let limit: UInt8 = !key.profile.isPlainOpenPGP && key.profile.version >= FirmwareVersion(5, 2, 1) ? 4 : 2
            guard value.count == 2, value[0] <= limit, value[1] == OpenPGPProtocol.button else {
                throw .status(.incorrectParameters)
            }
            guard ![2, 4].contains(key.openPGP[slot].touch) else {
                throw .status(key.profile.isPlainOpenPGP ? .authenticationBlocked : .securityRelated)
            }
            key.openPGP[slot].touch = value[0]
        } else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .wrongParameters)
        }
    }
}
