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

    init() {}

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
        switch inputs.touch(Array(what.utf8)) {
        case .touched: lastTouch = .now
        case .notTouched: throw .status(.securityStatusNotSatisfied)
        case .pending: throw .waitingForTouch
        }
    }

    /// Checks that a slot can hold a key.
    static func requireSlot(_ slot: UInt8) throws(Refusal) {
        let isKnown = PIVProtocol.Slot.retired.contains(slot) || PIVProtocol.Slot.name(slot) != nil
        guard isKnown, slot != managementSlot else { throw .status(StatusWord(0x6A86)) }
    }
}
