// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The YubiHSM Auth application: long-term keys for sessions with a YubiHSM 2.
package struct HSMAuthApplet: Applet {
    package static let aid = AID.hsmAuth
    package static let capabilities = VirtualCapability.hsmAuth

    /// The ephemeral key that GET CHALLENGE made, until the next CALCULATE.
    var pending: (label: [UInt8], number: [UInt8])?

    package init() {}

    package mutating func select(_ key: inout VirtualKeyState, _ world: VirtualWorld) -> [UInt8] {
        TLV(Tag.version, key.profile.version.bytes).encoded
    }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        let version = key.profile.version
        if [0x04, 0x0A].contains(command.ins), version < Version(5, 6, 0) { throw .status(.unknownInstruction) }
        if command.ins == 0x0B, version < Version(5, 8, 0) { throw .status(.unknownInstruction) }
        let parameters = UInt16(command.p1) << 8 | UInt16(command.p2)
        switch (command.ins, parameters) {
        case (0x01, 0): try put(command, &key.hsmAuth, version, world)
        case (0x02, 0): try delete(command, &key.hsmAuth)
        case (0x03, 0): return try calculate(command, &key.hsmAuth, world)
        case (0x04, 0): return try challenge(command, &key.hsmAuth, version, world)
        case (0x05, 0): return list(key.hsmAuth)
        case (0x06, 0xDEAD):
            key.hsmAuth = HSMAuthMemory()
            pending = nil
        case (0x07, 0): return version.bytes
        case (0x08, 0): try putManagementKey(command, &key.hsmAuth)
        case (0x09, 0): return [key.hsmAuth.managementRetries]
        case (0x0A, 0): return try publicKey(command, key.hsmAuth)
        case (0x0B, 0x0000): try changePassword(command, &key.hsmAuth)
        case (0x0B, 0x0100): try setPassword(command, &key.hsmAuth)
        case (0x01...0x0B, _): throw .status(.incorrectP1P2)
        default: throw .status(.unknownInstruction)
        }
        return []
    }

    /// Tags of the protocol.
    enum Tag {
        static let label: TLV.Tag = 0x71
        static let entry: TLV.Tag = 0x72
        static let password: TLV.Tag = 0x73
        static let algorithm: TLV.Tag = 0x74
        static let encryptionKey: TLV.Tag = 0x75
        static let macKey: TLV.Tag = 0x76
        static let context: TLV.Tag = 0x77
        static let cryptogram: TLV.Tag = 0x78
        static let version: TLV.Tag = 0x79
        static let touch: TLV.Tag = 0x7A
        static let managementKey: TLV.Tag = 0x7B
        static let publicKey: TLV.Tag = 0x7C
        static let privateKey: TLV.Tag = 0x7D
    }
}

// MARK: - Credentials

extension HSMAuthApplet {
    /// LIST: algorithm, touch, label and retries of each credential.
    private func list(_ memory: HSMAuthMemory) -> [UInt8] {
        memory.credentials.map {
            TLV(Tag.entry, [$0.algorithm, $0.needsTouch ? 1 : 0] + $0.label + [$0.retries])
        }.encoded
    }

    private func put(
        _ command: APDU, _ memory: inout HSMAuthMemory, _ version: Version, _ world: VirtualWorld
    ) throws(Refusal) {
        let (given, parsed) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.managementKey), try Self.credential(&reader))
        }
        var credential = parsed
        guard given.count == 16, credential.password.count == 16, (1...64).contains(credential.label.count),
            String(validating: credential.label, as: UTF8.self) != nil
        else { throw .status(.incorrectParameters) }
        if credential.algorithm == 39 {
            guard version >= Version(5, 6, 0) else { throw .status(.incorrectParameters) }
            if credential.keys.isEmpty { credential.keys = try Self.privateNumber(world) }
            guard (try? P256KeyAgreement(scalar: Secret(credential.keys))) != nil else {
                throw .status(.incorrectParameters)
            }
        }
        try authenticate(given, &memory)
        guard memory.index(of: credential.label) == nil else { throw .status(.authenticationBlocked) }
        guard memory.credentials.count < HSMAuthMemory.capacity else { throw .status(.noSpace) }
        memory.credentials.append(credential)
    }

    private static func credential(_ reader: inout ByteReader) throws(WireError) -> HSMAuthMemory.Credential {
        let label = try reader.value(Tag.label)
        let algorithm = try reader.value(Tag.algorithm)
        let keys: [UInt8]
        switch algorithm {
        case [38]:
            keys = try reader.value(Tag.encryptionKey) + reader.value(Tag.macKey)
            guard keys.count == 32 else { throw WireError(.malformed, at: reader.offset, "keys of 16 bytes") }
        case [39]:
            keys = try reader.value(Tag.privateKey)
            guard [0, 32].contains(keys.count) else { throw WireError(.malformed, at: reader.offset, "a number") }
        default: throw WireError(.malformed, at: reader.offset, "unknown algorithm")
        }
        let password = try reader.value(Tag.password)
        let touch = try reader.value(Tag.touch)
        guard touch == [0] || touch == [1] else { throw WireError(.malformed, at: reader.offset, "touch") }
        return HSMAuthMemory.Credential(
            label: label, algorithm: algorithm[0], keys: keys, password: password, needsTouch: touch == [1])
    }

    private func delete(_ command: APDU, _ memory: inout HSMAuthMemory) throws(Refusal) {
        let (given, label) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.managementKey), try reader.value(Tag.label))
        }
        try authenticate(given, &memory)
        memory.credentials.remove(at: try find(label, memory))
    }

    private func publicKey(_ command: APDU, _ memory: HSMAuthMemory) throws(Refusal) -> [UInt8] {
        let label = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.label) }
        let credential = memory.credentials[try find(label, memory)]
        guard credential.algorithm == 39, let key = try? P256KeyAgreement(scalar: Secret(credential.keys)) else {
            throw .status(.incorrectParameters)
        }
        return [0x04] + key.publicPoint
    }

    func find(_ label: [UInt8], _ memory: HSMAuthMemory) throws(Refusal) -> Int {
        guard let index = memory.index(of: label) else { throw .status(.notFound) }
        return index
    }
}

// MARK: - Secrets

extension HSMAuthApplet {
    /// Compares a management key; a wrong one costs a try, and none is left after eight in a row.
    func authenticate(_ given: [UInt8], _ memory: inout HSMAuthMemory) throws(Refusal) {
        guard given.count == 16 else { throw .status(.incorrectParameters) }
        guard memory.managementRetries > 0 else { throw .status(StatusWord(0x63C0)) }
        guard constantTimeEqual(given, memory.managementKey) else {
            memory.managementRetries -= 1
            throw .status(StatusWord(0x63C0 | UInt16(memory.managementRetries)))
        }
        memory.managementRetries = HSMAuthMemory.retryLimit
    }

    /// Compares a credential's password; the eighth wrong one in a row deletes the credential.
    func check(_ given: [UInt8], _ index: Int, _ memory: inout HSMAuthMemory) throws(Refusal) {
        guard given.count == 16 else { throw .status(.incorrectParameters) }
        guard constantTimeEqual(given, memory.credentials[index].password) else {
            memory.credentials[index].retries -= 1
            let left = memory.credentials[index].retries
            if left == 0 { memory.credentials.remove(at: index) }
            throw .status(StatusWord(0x63C0 | UInt16(left)))
        }
        memory.credentials[index].retries = HSMAuthMemory.retryLimit
    }

    private func putManagementKey(_ command: APDU, _ memory: inout HSMAuthMemory) throws(Refusal) {
        let (old, new) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.managementKey), try reader.value(Tag.managementKey))
        }
        guard new.count == 16 else { throw .status(.incorrectParameters) }
        try authenticate(old, &memory)
        memory.managementKey = new
    }

    private func changePassword(_ command: APDU, _ memory: inout HSMAuthMemory) throws(Refusal) {
        let (label, old, new) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.label), try reader.value(Tag.password), try reader.value(Tag.password))
        }
        guard new.count == 16 else { throw .status(.incorrectParameters) }
        let index = try find(label, memory)
        try check(old, index, &memory)
        memory.credentials[index].password = new
    }

    private func setPassword(_ command: APDU, _ memory: inout HSMAuthMemory) throws(Refusal) {
        let (label, given, new) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.label), try reader.value(Tag.managementKey), try reader.value(Tag.password))
        }
        guard new.count == 16 else { throw .status(.incorrectParameters) }
        try authenticate(given, &memory)
        let index = try find(label, memory)
        memory.credentials[index].password = new
        memory.credentials[index].retries = HSMAuthMemory.retryLimit
    }

    /// A private number of P-256.
    static func privateNumber(_ world: VirtualWorld) throws(Refusal) -> [UInt8] {
        for _ in 0..<8 {
            let number = try world.draw(32)
            if (try? P256KeyAgreement(scalar: Secret(number))) != nil { return number }
        }
        throw .status(.memoryFailure)
    }
}
