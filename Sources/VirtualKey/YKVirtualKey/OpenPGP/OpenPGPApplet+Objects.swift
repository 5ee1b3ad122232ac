// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension OpenPGPApplet {
    /// The slots of the cardholder certificates in the order of SELECT DATA (§7.2.5).
    static let certificateOrder: [VirtualOpenPGPSlot] = [.authentication, .decryption, .signature]

    private static func tag(_ command: APDU) -> UInt16 { UInt16(command.p1) << 8 | UInt16(command.p2) }

    /// GET DATA (§7.2.6). A YubiKey puts the tag before the content of 65, 6E, 73, 7A, FA and 7F74; other cards do not.
    func getData(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        let tag = Self.tag(command)
        let memory = key.openPGP
        switch tag {
        case 0x0103: guard verified.contains(0x82) else { throw .status(.securityStatusNotSatisfied) }
        case 0x0104: try requireAdmin()
        default: break
        }
        switch tag {
        case 0x0101...0x0104, 0x5E, 0x5F50: return memory.objects[tag] ?? []
        case 0x7F21: return memory[Self.certificateOrder[occurrence]].certificate
        case 0xFC where !key.profile.isPlainOpenPGP: return memory[.attestation].certificate
        case 0xF9: return memory.kdf.isEmpty ? [0x81, 0x01, 0x00] : memory.kdf
        case 0xFA: return algorithmInformation(key.profile)
        default: break
        }
        guard let object = objects(key).first(where: { $0.tag.rawValue == UInt32(tag) }) else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .wrongParameters)
        }
        let isWrapped = !key.profile.isPlainOpenPGP && (object.tag.isConstructed || tag == 0x7F74)
        return isWrapped ? object.encoded : object.value
    }

    /// GET NEXT DATA (§7.2.7): the next cardholder certificate.
    mutating func getNextData(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        guard Self.tag(command) == 0x7F21 else { throw .status(Self.wrongParameters(key.profile)) }
        guard occurrence < 2 else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .incorrectParameters)
        }
        occurrence += 1
        return key.openPGP[Self.certificateOrder[occurrence]].certificate
    }

    /// SELECT DATA (§7.2.5); up to firmware 5.4.3 preceded by the length of the list.
    mutating func selectData(_ command: APDU, _ profile: DeviceProfile) throws(Refusal) {
        guard command.p2 == 0x04 else { throw .status(Self.wrongParameters(profile)) }
        let list: [UInt8] = [0x60, 0x04, 0x5C, 0x02, 0x7F, 0x21]
        let isOdd = !profile.isPlainOpenPGP && profile.version <= Version(5, 4, 3)
        guard command.data == (isOdd ? [0x06] + list : list) else { throw .status(.incorrectParameters) }
        guard command.p1 <= 2 else { throw .status(.referenceNotFound) }
        occurrence = Int(command.p1)
    }

    /// The readable data objects and those nested in them.
    private func objects(_ key: VirtualKeyState) -> [TLV] {
        let (profile, memory) = (key.profile, key.openPGP)
        let discretionary = discretionary(key)
        let lengths = profile.isPlainOpenPGP ? [TLV(0x7F66, Self.lengths(profile))] : []
        let application =
            [TLV(0x4F, Self.identifier(profile)), TLV(0x5F52, Self.historical(profile))] + lengths
            + [Self.features, TLV(0x73, discretionary.encoded)]
        let counter = TLV(0x93, (0..<3).map { UInt8(truncatingIfNeeded: memory.counter >> (16 - 8 * UInt32($0))) })
        let holder = [
            TLV(0x5B, memory.objects[0x5B] ?? []), TLV(0x5F2D, memory.objects[0x5F2D] ?? []),
            TLV(0x5F35, memory.objects[0x5F35] ?? [0x39]),
        ]
        let direct: Set<TLV.Tag> =
            profile.isPlainOpenPGP
            ? [0xC1, 0xC2, 0xC3, 0xC4, 0xC5, 0xC6, 0xCD, 0xD6, 0xD7, 0xD8, 0xDE]
            : [0xC4, 0xD6, 0xD7, 0xD8, 0xD9, 0xDE, 0x7F66]
        return application + discretionary.filter { direct.contains($0.tag) }
            + [
                TLV(0x65, holder.encoded), TLV(0x6E, application.encoded), TLV(0x7A, counter.encoded), counter,
            ] + (profile.isPlainOpenPGP ? holder : [])
    }

    private func discretionary(_ key: VirtualKeyState) -> [TLV] {
        let (profile, memory) = (key.profile, key.openPGP)
        let slots = Self.slots(profile)
        func join(_ part: (OpenPGPMemory.SlotData) -> [UInt8]) -> [UInt8] { slots.flatMap { part(memory[$0]) } }
        let attributes = slots.map { TLV(Self.attributesTag($0), self.attributes(of: $0, key)) }
        let touch = slots.map { TLV(Self.touchTag($0), [memory[$0].touch, 0x20]) }
        let states = slots.flatMap { slot -> [UInt8] in
            [slot.rawValue, memory[slot].key.map { $0.isImported ? 2 : 1 } ?? 0]
        }
        let lengths = profile.isPlainOpenPGP ? [] : [TLV(0x7F66, Self.lengths(profile))]
        return [TLV(0xC0, Self.extendedCapabilities(profile))] + attributes
            + [
                TLV(0xC4, pinStatus(key)), TLV(0xC5, join(\.fingerprint)), TLV(0xC6, join(\.authority)),
                TLV(0xCD, join(\.time)), TLV(0xDE, states),
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
        let usual: [VirtualOpenPGPSlot] = [.signature, .decryption, .authentication]
        return profile.isPlainOpenPGP ? usual : usual + [.attestation]
    }

    static func attributesTag(_ slot: VirtualOpenPGPSlot) -> TLV.Tag {
        slot == .attestation ? 0xDA : TLV.Tag(rawValue: 0xC0 + UInt32(slot.rawValue))
    }

    static func touchTag(_ slot: VirtualOpenPGPSlot) -> TLV.Tag { TLV.Tag(rawValue: 0xD6 + UInt32(slot.index)) }

    // 7F74: a button.
    private static let features = TLV(0x7F74, [0x81, 0x01, 0x20])

    /// 4F (§4.2.1). Yubico encodes the serial number in decimal digits.
    private static func identifier(_ profile: DeviceProfile) -> [UInt8] {
        let maker: [UInt8] = profile.isGnuk ? [0xF5, 0x17] : profile.isPlainOpenPGP ? [0xFF, 0xFE] : [0x00, 0x06]
        var serial = profile.serial
        if !profile.isPlainOpenPGP {
            serial = String(profile.serial % 100_000_000).utf8.reduce(0) { $0 << 4 | UInt32($1 & 15) }
        }
        let digits = (0..<4).map { UInt8(truncatingIfNeeded: serial >> (24 - 8 * UInt32($0))) }
        return AID.openPGP.rawValue + [0x03, 0x04] + maker + digits + [0x00, 0x00]
    }

    private static func historical(_ profile: DeviceProfile) -> [UInt8] {
        profile.isPlainOpenPGP
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
}

extension OpenPGPApplet {
    /// PUT DATA (§7.2.8).
    mutating func putData(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        let tag = Self.tag(command)
        if tag == 0x0101 || tag == 0x0103 {
            guard verified.contains(0x82) else { throw .status(.securityStatusNotSatisfied) }
        } else {
            try requireAdmin()
        }
        let value = command.data
        switch tag {
        case 0x0101...0x0104, 0x5E, 0x5F50: try put(value, 0...0xFF, tag, &key)
        case 0x5B: try put(value, 0...39, tag, &key)
        case 0x5F2D: try put(value, [0, 2, 4, 6, 8].contains(value.count) ? 0...8 : 9...9, tag, &key)
        case 0x5F35:
            guard [[0x30], [0x31], [0x32], [0x39]].contains(value) else { throw .status(.incorrectParameters) }
            key.openPGP.objects[tag] = value
        case 0x7F21: try putCertificate(value, Self.certificateOrder[occurrence], &key)
        case 0xFC where !key.profile.isPlainOpenPGP: try putCertificate(value, .attestation, &key)
        case 0xC4:
            guard value.count == 1 || value.count == 4, value[0] <= 1 else { throw .status(.incorrectParameters) }
            key.openPGP.signatureMode = value[0]
        case 0xD3: try putResetCode(value, &key)
        case 0xD5 where key.profile.isPlainOpenPGP:
            guard [16, 24, 32].contains(value.count) else { throw .status(.incorrectParameters) }
            key.openPGP.aes = value
        case 0xF9: try putKDF(value, &key)
        default: try putSlotData(value, tag, &key)
        }
    }

    private func put(
        _ value: [UInt8], _ lengths: ClosedRange<Int>, _ tag: UInt16, _ key: inout VirtualKeyState
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
    private func putSlotData(_ value: [UInt8], _ tag: UInt16, _ key: inout VirtualKeyState) throws(Refusal) {
        let slots = Self.slots(key.profile)
        func slot(_ tags: [UInt16]) -> VirtualOpenPGPSlot? {
            zip(tags, slots).first { $0.0 == tag }?.1
        }
        func fixed(_ count: Int) throws(Refusal) -> [UInt8] {
            if value.isEmpty, key.profile.isPlainOpenPGP { return [UInt8](repeating: 0, count: count) }
            guard value.count == count else { throw .status(.incorrectParameters) }
            return value
        }
        if let slot = slot([0xC1, 0xC2, 0xC3, 0xDA]) {
            try putAttributes(value, slot, &key)
        } else if let slot = slot([0xC7, 0xC8, 0xC9, 0xDB]) {
            key.openPGP[slot].fingerprint = try fixed(20)
        } else if let slot = slot([0xCA, 0xCB, 0xCC, 0xDC]) {
            key.openPGP[slot].authority = try fixed(20)
        } else if let slot = slot([0xCE, 0xCF, 0xD0, 0xDD]) {
            key.openPGP[slot].time = try fixed(4)
        } else if let slot = slot([0xD6, 0xD7, 0xD8, 0xD9]) {
            let limit: UInt8 = !key.profile.isPlainOpenPGP && key.profile.version >= Version(5, 2, 1) ? 4 : 2
            guard value.count == 2, value[0] <= limit, value[1] == 0x20 else { throw .status(.incorrectParameters) }
            guard ![2, 4].contains(key.openPGP[slot].touch) else {
                throw .status(key.profile.isPlainOpenPGP ? .authenticationBlocked : .securityStatusNotSatisfied)
            }
            key.openPGP[slot].touch = value[0]
        } else {
            throw .status(key.profile.isPlainOpenPGP ? .referenceNotFound : .wrongParameters)
        }
    }
}
