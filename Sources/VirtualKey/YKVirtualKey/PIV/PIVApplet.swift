// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
import YKWire

/// The PIV application (NIST SP 800-73-4 with Yubico's additions): keys, certificates and PINs.
struct PIVApplet: Applet {
    static let aid = AID(rawValue: AID.piv.rawValue + [0x00, 0x00, 0x10, 0x00, 0x01, 0x00])
    static var memory: (any AppletMemory.Type)? { PIVMemory.self }
    static let capabilities = VirtualCapability.piv
    /// NIST SP 800-73-4 Part 2 §3.1.1.
    static let survivesReselection = true

    /// Whether the PIN was verified, and whether a key was used since.
    var pin = PINState.notGiven
    /// Whether the host has authenticated with the management key.
    var isManaging = false
    /// Whether a finger was verified, and whether a key was used since (YubiKey Bio).
    var finger = PINState.notGiven
    /// The temporary PIN of this session, issued after a fingerprint verification (YubiKey Bio).
    var temporaryPIN: [UInt8]?
    /// The time of the last touch in this session, for the policy "cached".
    var lastTouch: ContinuousClock.Instant?
    /// What the host must answer to prove that it has the management key.
    var pending: Pending?

    enum PINState: Sendable { case notGiven, fresh, used }

    /// The unfinished half of an authentication with the management key.
    enum Pending: Sendable {
        /// The host must decrypt the witness to this block.
        case witness([UInt8])
        /// The host must return this block encrypted.
        case challenge([UInt8])
    }

    typealias Instruction = PIVProtocol.Instruction
    typealias Tag = PIVProtocol.Tag
    typealias MetadataTag = PIVProtocol.MetadataTag

    static let pinReference = PIVProtocol.Reference.pin
    static let fingerReference = PIVProtocol.Reference.fingerprint
    static let attestationSlot = PIVProtocol.Slot.attestation
    static let managementSlot = PIVProtocol.Slot.management
    static let attestationObject: UInt32 = 0x5F_FF01

    /// Commands that identify the key need no channel.
    func needsChannel(_ command: APDU) -> Bool {
        ![Instruction.getSerial, Instruction.getVersion].contains(command.ins)
    }

    /// SELECT returns the application property template (NIST SP 800-73-4 Part 2 §3.1.1).
    mutating func select(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        if key.profile.version >= FirmwareVersion(4, 3, 0), key.piv.attestationRoot.isEmpty {
            try PIVAttestationChain.make(&key, inputs)
        }
        let authority = TLV(Tag.authority, TLV(Tag.applicationIdentifier, AID.piv.rawValue).encoded)
        return TLV(
            Tag.applicationProperties, [TLV(Tag.applicationIdentifier, [0, 0, 0x10, 0, 1, 0]), authority].encoded
        ).encoded
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard let since = Self.since(command.ins), key.profile.version >= since else {
            throw .status(.unknownInstruction)
        }
        if command.ins != Instruction.authenticate { pending = nil }
        let isPUK = command.ins == Instruction.changeReference && command.p2 == PIVProtocol.Reference.puk
        // A YubiKey Bio has no PUK, and its numbers of tries are fixed (yubikit).
        guard !key.profile.isBio || !isPUK && ![Instruction.resetRetry, Instruction.setRetries].contains(command.ins)
        else { throw .status(.unknownInstruction) }
        switch command.ins {
        case Instruction.verify where command.p2 == Self.fingerReference && key.profile.isBio:
            return try verifyFinger(command, &key, inputs)
        case Instruction.verify: try verify(command, &key)
        case Instruction.changeReference: try changeReference(command, &key.piv, key.profile)
        case Instruction.resetRetry: try resetRetry(command, &key.piv, key.profile)
        case Instruction.setRetries: try setRetries(command, &key.piv)
        case Instruction.authenticate: return try authenticate(command, &key, inputs)
        case Instruction.setManagementKey: try setManagementKey(command, &key, inputs)
        case Instruction.generate: return try generate(command, &key, inputs)
        case Instruction.importKey: try importKey(command, &key)
        case Instruction.moveKey: try moveKey(command, &key.piv)
        case Instruction.attest: return try attest(command, key, inputs)
        case Instruction.getMetadata: return try metadata(command, key)
        case Instruction.getData: return try getData(command, key.piv)
        case Instruction.putData: try putData(command, &key)
        case Instruction.getVersion: return key.profile.version.bytes
        case Instruction.getSerial:
            guard key.isSerialVisible else { throw .status(.conditionsNotSatisfied) }
            return (0..<4).map { UInt8(truncatingIfNeeded: key.profile.serial >> (24 - 8 * $0)) }
        default: try reset(&key)
        }
        return []
    }

    /// The first firmware version that has an instruction; `nil` for an unknown one.
    private static func since(_ instruction: UInt8) -> FirmwareVersion? {
        switch instruction {
        case Instruction.attest: FirmwareVersion(4, 3, 0)
        case Instruction.getSerial: FirmwareVersion(5, 0, 0)
        case Instruction.getMetadata: FirmwareVersion(5, 3, 0)
        case Instruction.moveKey: FirmwareVersion(5, 7, 0)
        case Instruction.verify, Instruction.changeReference, Instruction.resetRetry, Instruction.generate,
            Instruction.authenticate, Instruction.getData, Instruction.putData, Instruction.setRetries,
            Instruction.reset, Instruction.getVersion, Instruction.importKey, Instruction.setManagementKey:
            FirmwareVersion(0, 0, 0)
        default: nil
        }
    }

    /// RESET deletes everything; PIN and PUK must be blocked.
    private mutating func reset(_ key: inout VirtualKeyState) throws(Refusal) {
        guard key.piv.pin.left == 0, key.piv.puk.left == 0, key.resetBlocked & VirtualCapability.piv == 0 else {
            throw .status(.conditionsNotSatisfied)
        }
        key.piv = key.piv.afterReset(key.profile)
        self = PIVApplet()
    }

    func requireManagement() throws(Refusal) {
        guard isManaging else { throw .status(.securityStatusNotSatisfied) }
    }

    /// Waits for a touch; without one, a YubiKey ends the command with 6982.
    mutating func touch(_ what: String, _ inputs: VirtualInputs) throws(Refusal) {
        try inputs.requireTouch(Array(what.utf8), orElse: .status(.securityStatusNotSatisfied))
        lastTouch = .now
    }

    /// Checks that a slot can hold a key.
    static func requireSlot(_ slot: UInt8) throws(Refusal) {
        let isKnown = PIVProtocol.Slot.retired.contains(slot) || PIVProtocol.Slot.name(slot) != nil
        guard isKnown, slot != managementSlot else { throw .status(StatusWord(0x6A86)) }
    }

    /// Objects that can be read only after the PIN was verified (NIST SP 800-73-4 Part 1 Table 2).
    private static let guarded: Set<UInt32> = [0x5F_C103, 0x5F_C108, 0x5F_C109, 0x5F_C121]
    private static let discovery: UInt32 = Tag.discovery.rawValue
    /// The number of bytes that surround the content of an object in PUT DATA.
    private static let overhead = 9

    /// GET DATA (NIST SP 800-73-4 Part 2 §3.1.2).
    func getData(_ command: APDU, _ memory: PIVMemory) throws(Refusal) -> [UInt8] {
        guard (command.p1, command.p2) == PIVProtocol.currentObjects else { throw .status(StatusWord(0x6A86)) }
        let id = try OATHApplet.parse(command.data) { reader throws(WireError) in try reader.value(Tag.objectID) }
        let tag = try Self.tag(id)
        if tag == Self.discovery {
            let aid = TLV(Tag.applicationIdentifier, Self.aid.rawValue)
            return TLV(Tag.discovery, [aid, TLV(Tag.pinUsagePolicy, [0x40, 0x00])].encoded).encoded
        }
        if Self.guarded.contains(tag), pin == .notGiven { throw .status(.securityStatusNotSatisfied) }
        guard let content = memory.objects[tag] else { throw .status(.notFound) }
        return TLV(Tag.content, content).encoded
    }

    /// PUT DATA (NIST SP 800-73-4 Part 2 §3.3.1); empty content deletes the object.
    mutating func putData(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard (command.p1, command.p2) == PIVProtocol.currentObjects else { throw .status(StatusWord(0x6A86)) }
        try requireManagement()
        let (id, content) = try OATHApplet.parse(command.data) { reader throws(WireError) in
            (try reader.value(Tag.objectID), try reader.value(Tag.content))
        }
        let tag = try Self.tag(id)
        guard tag != Self.discovery else { throw .status(.functionNotSupported) }
        guard content.count <= key.profile.messageLimit - Self.overhead else { throw .status(.noSpace) }
        key.piv.objects[tag] = content.isEmpty ? nil : content
    }

    private static func tag(_ id: [UInt8]) throws(Refusal) -> UInt32 {
        let number = id.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard id.count == 3 && id[0] == 0x5F || id == [0x7E] else { throw .status(.notFound) }
        return number
    }

    /// GENERAL AUTHENTICATE with the private key of a slot (NIST SP 800-73-4 Part 2 §A.3 to A.5).
    mutating func use(
        _ command: APDU, _ template: [TLV], _ memory: PIVMemory, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        try Self.requireSlot(command.p2)
        // The attestation key signs statements only.
        guard command.p2 != Self.attestationSlot, let slot = memory.keys[command.p2] else {
            throw .status(.incorrectParameters)
        }
        guard command.p1 == slot.algorithm, template.value(Tag.response) == [] else {
            throw .status(.incorrectParameters)
        }
        try check(slot.pinPolicy)
        let isWarm = slot.touchPolicy == 3 && lastTouch.map { $0.duration(to: .now) < Self.touchCache } ?? false
        if slot.touchPolicy > 1, !isWarm { try touch("PIV \(Hex.encode([command.p2]))", inputs) }
        if pin == .fresh { pin = .used }
        if finger == .fresh { finger = .used }
        let result: [UInt8]
        do { result = try Self.result(slot, try slot.privateKey(), template) } catch {
            throw .status(.incorrectParameters)
        }
        return TLV(Tag.dynamic, TLV(Tag.response, result).encoded).encoded
    }

    /// How long a touch is cached with the policy "cached".
    private static let touchCache = Duration.seconds(15)

    private func check(_ policy: UInt8) throws(Refusal) {
        let isSatisfied =
            switch policy {
            case 1: true
            case 2: pin != .notGiven
            case 4: pin != .notGiven || finger != .notGiven
            case 5: pin == .fresh || finger == .fresh
            default: pin == .fresh
            }
        guard isSatisfied else { throw .status(.securityStatusNotSatisfied) }
    }

    private static func result(
        _ slot: VirtualPIVKey, _ key: PrivateKey, _ template: [TLV]
    ) throws -> [UInt8] {
        let challenge = template.value(Tag.challenge)
        let point = template.value(Tag.exponentiation)
        switch (key.publicKey, challenge, point) {
        case (.rsa(let modulus, _), .some(let block), nil) where block.count == modulus.count:
            return try key.rsaPrivate(block)
        case (.ec(let curve, _), .some(let digest), nil) where digest.count <= curve.fieldSize:
            return try key.sign(digest: digest)
        case (.ec(let curve, _), nil, .some(let point)):
            return try key.shared(with: .ec(curve, point: point)).value.copyBytes()
        case (.ed25519, .some(let message), nil): return try key.sign(message, .sha512)
        case (.x25519, nil, .some(let point)) where point.count == 32:
            return try key.shared(with: .x25519(point)).value.copyBytes()
        default: throw Refusal.status(.incorrectParameters)
        }
    }
}
