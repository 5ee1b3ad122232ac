// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKWire

/// The Security Domain: holds the keys of secure channels and lets hosts that have authenticated manage them.
struct SecurityDomainApplet: Applet {
    static let aid = AID.securityDomain
    static var memory: (any AppletMemory.Type)? { SecurityDomainMemory.self }
    static let classes: Set<UInt8> = [0x00, 0x80]

    private typealias Instruction = SecurityDomainProtocol.Instruction
    private typealias Tag = SecurityDomainProtocol.Tag

    /// The rights of the channel that the command came through; `nil` without a channel.
    private var channel: ChannelRights?

    /// The rights of a channel.
    struct ChannelRights: Hashable, Sendable {
        let isHostAuthenticated: Bool
        let dataEncryption: [UInt8]
    }

    mutating func arrive(by route: CommandRoute) { channel = route.channel }

    mutating func select(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard key.profile.hasSCP else { throw .status(.notFound) }
        let about = TLV(0x73, TLV(0x06, [0x2A, 0x86, 0x48, 0x86, 0xFC, 0x6B, 0x01]).encoded)
        return TLV(
            0x6F, [TLV(0x84, AID.securityDomain.rawValue), TLV(0xA5, about.encoded)].encoded
        ).encoded
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        try key.securityDomain.prepare(key.profile, inputs)
        switch (command.cla, command.ins) {
        case (_, Instruction.getData): return try getData(command, key)
        case (0x00, Instruction.storeData):
            _ = try rights()
            try storeData(command, &key.securityDomain)
        case (0x80, Instruction.putKey): return try putKey(command, try rights(), &key)
        case (0x80, Instruction.generateKey) where key.profile.hasSCP11:
            _ = try rights()
            return try generateKey(command, &key.securityDomain, inputs)
        case (0x80, Instruction.deleteKey):
            _ = try rights()
            try deleteKey(command, &key.securityDomain)
        default: throw .status(.unknownInstruction)
        }
        return []
    }

    /// Returns the rights of the channel. Changes require an authenticated host.
    private func rights() throws(Refusal) -> ChannelRights {
        guard let channel, channel.isHostAuthenticated else { throw .status(.securityStatusNotSatisfied) }
        return channel
    }

    // MARK: - Reading

    private func getData(_ command: APDU, _ key: VirtualKeyState) throws(Refusal) -> [UInt8] {
        let keys = key.securityDomain.keys ?? []
        switch command.parameters {
        case Tag.cardRecognition: return recognition(key.profile)
        case Tag.keyInformationObject: return keys.flatMap(Self.information)
        case Tag.productionData:
            return TLV(TLV.Tag(rawValue: UInt32(Tag.productionData)), [UInt8](repeating: 0x5A, count: 42)).encoded
        case Tag.hostAuthorities: return try authorities(keys.filter(\.isAuthority))
        case Tag.cardAuthorities: return try authorities(keys.filter(\.isPrivate))
        case Tag.certificates where key.profile.hasSCP11:
            let (id, version) = try OATHApplet.parse(command.data) { reader throws(WireError) in
                try Self.control(&reader)
            }
            let found = keys.first { $0.id == id && $0.version == version }
            guard let bundle = found?.certificates, !bundle.isEmpty else { throw .status(.referenceNotFound) }
            return bundle
        default: throw .status(.referenceNotFound)
        }
    }

    /// One entry per key; a key set has three.
    private static func information(_ key: SecurityDomainMemory.Key) -> [UInt8] {
        if key.isSet { return (1...3).flatMap { [0xC0, 0x04, UInt8($0), key.version, 0x88, 0x10] } }
        return TLV(0xC0, [key.id, key.version] + (key.isPrivate ? [0xB1, 0x20] : [0xB0, 0x41])).encoded
    }

    private func authorities(_ keys: [SecurityDomainMemory.Key]) throws(Refusal) -> [UInt8] {
        let known = keys.filter { !$0.issuer.isEmpty }
        guard !known.isEmpty else { throw .status(.referenceNotFound) }
        return known.flatMap { [TLV(Tag.issuer, $0.issuer), TLV(Tag.keyReference, [$0.id, $0.version])].encoded }
    }

    /// Card recognition data (Card Specification 2.3.1 §H.2): GlobalPlatform 2.3.1, and the protocols.
    private func recognition(_ profile: DeviceProfile) -> [UInt8] {
        let root: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xFC, 0x6B]
        var objects = [
            TLV(0x06, root + [0x01]), TLV(0x60, TLV(0x06, root + [0x02, 0x02, 0x03, 0x01]).encoded),
            TLV(0x63, TLV(0x06, root + [0x03]).encoded), TLV(0x64, TLV(0x06, root + [0x04, 0x03, 0x60]).encoded),
        ]
        if profile.hasSCP11 { objects.append(TLV(0x64, TLV(0x06, root + [0x04, 0x0B, 0x04]).encoded)) }
        return TLV(0x73, objects.encoded).encoded
    }

    private static func control(_ reader: inout ByteReader) throws(WireError) -> (UInt8, UInt8) {
        var control = try reader.tlv(Tag.controlReference, "a control reference")
        return try reference(&control)
    }

    private static func reference(_ control: inout ByteReader) throws(WireError) -> (UInt8, UInt8) {
        let bytes = try control.value(Tag.keyReference)
        guard bytes.count == 2 else { throw WireError(.malformed, at: control.offset, "KID and KVN") }
        return (bytes[0], bytes[1])
    }

    // MARK: - Writing

    private func storeData(_ command: APDU, _ memory: inout SecurityDomainMemory) throws(Refusal) {
        guard command.p1 == 0x90, command.p2 == 0 else { throw .status(.incorrectP1P2) }
        let (reference, issuer, object) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            var control = try reader.tlv(Tag.controlReference, "a control reference")
            guard control.peek == 0x80 else {
                return (try Self.reference(&control), [UInt8]?.none, TLV?.some(try reader.tlv()))
            }
            _ = try control.value(0x80)
            let issuer = try control.value(Tag.issuer)
            return (try Self.reference(&control), [UInt8]?.some(issuer), TLV?.none)
        }
        guard let index = memory.keys?.firstIndex(where: { $0.id == reference.0 && $0.version == reference.1 }) else {
            throw .status(.referenceNotFound)
        }
        guard let key = memory.keys?[index], !key.isSet else { throw .status(.incorrectParameters) }
        switch object?.tag {
        case nil:
            guard let issuer, issuer.count <= 32 else { throw .status(.incorrectParameters) }
            memory.keys?[index].issuer = issuer
        case TLV.Tag(rawValue: UInt32(Tag.certificates)) where key.isPrivate:
            memory.keys?[index].certificates = object?.value ?? []
        case Tag.allowedSerials where key.isAuthority:
            guard let entries = try? TLV.list(object?.value ?? []), entries.allSatisfy({ $0.tag == 0x93 }) else {
                throw .status(.incorrectParameters)
            }
            memory.keys?[index].allowed = entries.isEmpty ? nil : entries.map(\.value)
        default: throw .status(.incorrectParameters)
        }
    }

    private func putKey(
        _ command: APDU, _ rights: ChannelRights, _ key: inout VirtualKeyState
    ) throws(Refusal) -> [UInt8] {
        let id = command.p2 & 0x7F
        guard let version = command.data.first, (1...0x7F).contains(version) else {
            throw .status(.incorrectParameters)
        }
        var made = SecurityDomainMemory.Key(id: id, version: version, bytes: [])
        let body = Array(command.data.dropFirst())
        let reply: [UInt8]
        switch id {
        case 0x01 where command.p2 & 0x80 != 0:
            (made.bytes, reply) = try Self.keySet(body, rights.dataEncryption)
        case 0x11 where key.profile.hasSCP11, 0x13 where key.profile.hasSCP11, 0x15 where key.profile.hasSCP11:
            made.bytes = try Self.privateNumber(body, rights.dataEncryption)
            reply = []
        case 0x10 where key.profile.hasSCP11, 0x20...0x2F where key.profile.hasSCP11:
            made.bytes = try Self.point(body)
            reply = []
        default: throw .status(.incorrectParameters)
        }
        try Self.store(made, replacing: command.p1, &key.securityDomain)
        return [version] + reply
    }

    /// Parses a key set: three times 88 10, encrypted key, 03, key check value.
    private static func keySet(
        _ body: [UInt8], _ dataEncryption: [UInt8]
    ) throws(Refusal) -> (keys: [UInt8], checks: [UInt8]) {
        let parts = try OATHApplet.parse(body) { reader throws(WireError) in
            var parts: [(key: [UInt8], check: [UInt8])] = []
            for _ in 0..<3 {
                let key = try reader.value(0x88)
                parts.append((key, try reader.bytes(Int(try reader.byte()), "the key check value")))
            }
            return parts
        }
        var (keys, checks): ([UInt8], [UInt8]) = ([], [])
        for part in parts {
            guard part.key.count == 16, part.check.count == 3 else { throw .status(.incorrectParameters) }
            let key = try decrypt(part.key, dataEncryption)
            let check = try? BlockCipher.aes.encrypt([UInt8](repeating: 1, count: 16), key: Secret(key)).prefix(3)
            guard check.map({ Array($0) == part.check }) ?? false else { throw .status(.incorrectParameters) }
            keys += key
            checks += part.check
        }
        return (keys, checks)
    }

    private static func privateNumber(_ body: [UInt8], _ dataEncryption: [UInt8]) throws(Refusal) -> [UInt8] {
        let encrypted = try key(0xB1, in: body)
        guard encrypted.count == 32 else { throw .status(.incorrectParameters) }
        let number = try decrypt(encrypted, dataEncryption)
        guard (try? P256KeyAgreement(scalar: Secret(number))) != nil else { throw .status(.incorrectParameters) }
        return number
    }

    private static func point(_ body: [UInt8]) throws(Refusal) -> [UInt8] {
        let point = try key(0xB0, in: body)
        guard point.count == 65, (try? VerificationKey(ecdsa: .p256, point: point)) != nil else {
            throw .status(.incorrectParameters)
        }
        return point
    }

    /// Parses a P-256 key: its object, F0 01 00, and no key check value.
    private static func key(_ tag: TLV.Tag, in body: [UInt8]) throws(Refusal) -> [UInt8] {
        try OATHApplet.parse(body) { reader throws(WireError) in
            let key = try reader.value(tag)
            guard try reader.value(0xF0) == [0], try reader.byte() == 0 else {
                throw WireError(.malformed, at: reader.offset, "not P-256")
            }
            return key
        }
    }

    private static func decrypt(_ bytes: [UInt8], _ key: [UInt8]) throws(Refusal) -> [UInt8] {
        do {
            return try AESCBC.decrypt(
                bytes, key: Secret(key), initialisationVector: [UInt8](repeating: 0, count: 16))
        } catch { throw .status(.incorrectParameters) }
    }

    private func generateKey(
        _ command: APDU, _ memory: inout SecurityDomainMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard [0x11, 0x13, 0x15].contains(command.p2), command.data.count == 4, command.data[1...] == [0xF0, 1, 0],
            (1...0x7F).contains(command.data[0])
        else { throw .status(.incorrectParameters) }
        let (key, _) = try SecurityDomainMemory.generated(command.p2, command.data[0], inputs)
        guard let pair = try? P256KeyAgreement(scalar: Secret(key.bytes)) else { throw .status(.memoryFailure) }
        try Self.store(key, replacing: command.p1, &memory)
        return TLV(0xB0, [0x04] + pair.publicPoint).encoded
    }

    /// Stores a key; the first custom SCP03 set replaces the factory set.
    private static func store(
        _ key: SecurityDomainMemory.Key, replacing version: UInt8, _ memory: inout SecurityDomainMemory
    ) throws(Refusal) {
        var keys = memory.keys ?? []
        if version != 0 {
            guard let old = keys.firstIndex(where: { $0.id == key.id && $0.version == version }) else {
                throw .status(.referenceNotFound)
            }
            keys.remove(at: old)
        }
        if key.isSet { keys.removeAll { $0.isSet && $0.version == SecurityDomainMemory.factoryVersion } }
        guard !keys.contains(where: { $0.id == key.id && $0.version == key.version }) else {
            throw .status(.incorrectParameters)
        }
        guard keys.count < SecurityDomainMemory.keyLimit,
            !key.isSet || keys.filter(\.isSet).count < SecurityDomainMemory.setLimit
        else { throw .status(.noSpace) }
        memory.keys = keys + [key]
    }

    private func deleteKey(_ command: APDU, _ memory: inout SecurityDomainMemory) throws(Refusal) {
        guard command.p1 == 0, command.p2 <= 1, let objects = try? TLV.list(command.data), !objects.isEmpty,
            objects.allSatisfy({ [Tag.keyIdentifier, Tag.keyVersion].contains($0.tag) && $0.value.count == 1 })
        else { throw .status(.incorrectParameters) }
        let id = objects.value(Tag.keyIdentifier)?.first
        let version = objects.value(Tag.keyVersion)?.first
        guard id.map({ !(1...3).contains($0) }) ?? true else { throw .status(.incorrectParameters) }
        let keys = memory.keys ?? []
        let left = keys.filter { key in
            id.map { $0 != key.id } ?? false || version.map { $0 != key.version } ?? false
        }
        guard left.count < keys.count else { throw .status(.referenceNotFound) }
        guard !left.isEmpty || command.p2 == 1 else { throw .status(.conditionsNotSatisfied) }
        memory.keys = left
    }
}
