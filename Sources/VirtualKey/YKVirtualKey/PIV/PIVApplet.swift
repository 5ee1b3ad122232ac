// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The PIV application (NIST SP 800-73-4 with Yubico's additions): keys, certificates and PINs.
package struct PIVApplet: Applet {
    package static let aid = AID(rawValue: AID.piv.rawValue + [0x00, 0x00, 0x10, 0x00, 0x01, 0x00])
    package static let capabilities = VirtualCapability.piv

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

    static let pinReference: UInt8 = 0x80
    static let fingerReference: UInt8 = 0x96
    static let attestationSlot: UInt8 = 0xF9
    static let managementSlot: UInt8 = 0x9B
    static let attestationObject: UInt32 = 0x5F_FF01

    package init() {}

    /// SELECT returns the application property template (NIST SP 800-73-4 Part 2 §3.1.1).
    package mutating func select(
        _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        if key.profile.version >= Version(4, 3, 0), key.piv.attestationRoot.isEmpty {
            try PIVAttestationChain.make(&key, world)
        }
        let authority = TLV(0x79, TLV(0x4F, AID.piv.rawValue).encoded)
        return TLV(0x61, [TLV(0x4F, [0, 0, 0x10, 0, 1, 0]), authority].encoded).encoded
    }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard let instruction = Instruction(rawValue: command.ins), key.profile.version >= instruction.since else {
            throw .status(.unknownInstruction)
        }
        if instruction != .authenticate { pending = nil }
        switch instruction {
        case .verify where command.p2 == Self.fingerReference && key.profile.isBio:
            return try verifyFinger(command, &key, world)
        case .verify: try verify(command, &key.piv)
        case .changeReference: try changeReference(command, &key.piv, key.profile)
        case .resetRetry: try resetRetry(command, &key.piv, key.profile)
        case .setRetries: try setRetries(command, &key.piv)
        case .authenticate: return try authenticate(command, &key, world)
        case .setManagementKey: try setManagementKey(command, &key, world)
        case .generate: return try generate(command, &key, world)
        case .importKey: try importKey(command, &key)
        case .moveKey: try moveKey(command, &key.piv)
        case .attest: return try attest(command, key)
        case .metadata: return try metadata(command, key)
        case .getData: return try getData(command, key.piv)
        case .putData: try putData(command, &key)
        case .version: return key.profile.version.bytes
        case .serial: return (0..<4).map { UInt8(truncatingIfNeeded: key.profile.serial >> (24 - 8 * $0)) }
        case .reset: try reset(&key)
        }
        return []
    }

    /// Instructions of the protocol.
    enum Instruction: UInt8 {
        case verify = 0x20
        case changeReference = 0x24
        case resetRetry = 0x2C
        case generate = 0x47
        case authenticate = 0x87
        case getData = 0xCB
        case putData = 0xDB
        case moveKey = 0xF6
        case metadata = 0xF7
        case serial = 0xF8
        case attest = 0xF9
        case setRetries = 0xFA
        case reset = 0xFB
        case version = 0xFD
        case importKey = 0xFE
        case setManagementKey = 0xFF

        /// The first firmware version that has the instruction.
        var since: Version {
            switch self {
            case .attest: Version(4, 3, 0)
            case .serial: Version(5, 0, 0)
            case .metadata: Version(5, 3, 0)
            case .moveKey: Version(5, 7, 0)
            default: Version(0, 0, 0)
            }
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
    mutating func touch(_ what: String, _ world: VirtualWorld) throws(Refusal) {
        switch world.touch(Array(what.utf8)) {
        case .touched: lastTouch = .now
        case .notTouched: throw .status(.securityStatusNotSatisfied)
        case .pending: throw .waitingForTouch
        }
    }

    /// Checks that a slot can hold a key.
    static func requireSlot(_ slot: UInt8) throws(Refusal) {
        let slots: [ClosedRange<UInt8>] = [0x82...0x95, 0x9A...0x9A, 0x9C...0x9E, 0xF9...0xF9]
        guard slots.contains(where: { $0.contains(slot) }) else { throw .status(StatusWord(0x6A86)) }
    }
}
