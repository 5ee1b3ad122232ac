// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The OpenPGP application (OpenPGP Smart Card Application 3.4) of a YubiKey with firmware 5.2 or later, or of a card
/// from another vendor.
struct OpenPGPApplet: Applet {
    static let aid = AID.openPGP
    static var memory: (any AppletMemory.Type)? { OpenPGPMemory.self }
    static let capabilities = VirtualCapability.openPGP
    /// As a YubiKey 5.7.4 does.
    static let survivesReselection = true
    static let classes: Set<UInt8> = [0x00, 0x80]

    typealias Instruction = OpenPGPProtocol.Instruction
    typealias Tag = OpenPGPProtocol.Tag
    typealias KeyTag = OpenPGPProtocol.KeyTag
    typealias KDFTag = OpenPGPProtocol.KDFTag
    typealias Password = OpenPGPProtocol.Password

    /// The verified PINs: PW1 for signatures (81), PW1 for other operations (82), PW3 (83).
    var verified: Set<UInt8> = []
    /// The cardholder certificate chosen by SELECT DATA or GET NEXT DATA: 0 authentication, 1 decryption, 2 signature.
    var occurrence = 0
    /// The time of the last touch in this session, for the cached touch policies.
    var lastTouch: ContinuousClock.Instant?

    mutating func select(
        _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard !key.openPGP.isTerminated else { throw .status(.noInputData) }
        if !key.profile.isPlainOpenPGP, key.openPGP.attestationRoot.isEmpty {
            try OpenPGPAttestationChain.make(&key, inputs)
        }
        return []
    }

    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        let instruction = command.ins
        guard Self.knows(instruction, key.profile) else { throw .status(.unknownInstruction) }
        guard command.cla == (instruction == Instruction.attest ? 0x80 : 0x00) else { throw .status(.unknownClass) }
        if key.openPGP.isTerminated, instruction != Instruction.activate, instruction != Instruction.getVersion {
            throw .status(key.profile.isGnuk ? .noInputData : .conditionsNotSatisfied)
        }
        switch instruction {
        case Instruction.verify: try verify(command, &key)
        case Instruction.changeReference: try changeReference(command, &key)
        case Instruction.resetRetry: try resetRetry(command, &key)
        case Instruction.setRetries: try setRetries(command, &key)
        case Instruction.getData: return try getData(command, key)
        case Instruction.getNextData: return try getNextData(command, key)
        case Instruction.selectData: try selectData(command, key.profile)
        case Instruction.putData: try putData(command, &key)
        case Instruction.importKey: try importKey(command, &key)
        case Instruction.generateKey: return try generate(command, &key, inputs)
        case Instruction.performOperation: return try perform(command, &key, inputs)
        case Instruction.authenticate: return try authenticate(command, &key, inputs)
        case Instruction.getChallenge: return try challenge(command, key.profile, inputs)
        case Instruction.attest: try attest(command, &key, inputs)
        case Instruction.terminate: try terminate(command, &key)
        case Instruction.activate: try activate(command, &key)
        default:
            let version = key.profile.version
            return [version.major, version.minor, version.patch].map { (number: UInt8) -> UInt8 in
                (number / 10 % 10) << 4 | number % 10
            }
        }
        return []
    }

    private static func knows(_ instruction: UInt8, _ profile: DeviceProfile) -> Bool {
        switch instruction {
        case Instruction.getVersion, Instruction.setRetries: !profile.isPlainOpenPGP
        case Instruction.attest: !profile.isPlainOpenPGP && profile.version >= FirmwareVersion(5, 2, 1)
        case Instruction.verify, Instruction.changeReference, Instruction.resetRetry, Instruction.getData,
            Instruction.getNextData, Instruction.selectData, Instruction.putData, Instruction.importKey,
            Instruction.generateKey, Instruction.performOperation, Instruction.authenticate, Instruction.getChallenge,
            Instruction.terminate, Instruction.activate:
            true
        default: false
        }
    }

    /// TERMINATE DF (§7.2.16): requires the admin PIN, or both PINs to be blocked.
    private mutating func terminate(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        let isBlocked = key.openPGP.user.left == 0 && key.openPGP.admin.left == 0
        guard verified.contains(Password.admin) || isBlocked else { throw .status(.securityStatusNotSatisfied) }
        key.openPGP.isTerminated = true
        if key.profile.isPlainOpenPGP { verified = [] }
    }

    /// ACTIVATE FILE (§7.2.17): resets a terminated application to a new card's state. On a YubiKey 5.4.3, PINs stay
    /// verified.
    private mutating func activate(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        guard key.openPGP.isTerminated else { return }
        key.openPGP = key.openPGP.afterReset
        let verified = verified
        self = OpenPGPApplet()
        self.verified = verified
    }

    /// GET CHALLENGE (§7.2.15): returns as many random bytes as expected.
    private func challenge(
        _ command: APDU, _ profile: DeviceProfile, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(profile)) }
        let limit = profile.isPlainOpenPGP ? 0x20 : 0x0BFE
        switch command.le {
        case .none: throw .status(.wrongLength)
        case .max: return try inputs.draw(min(256, limit))
        case .bytes(let count):
            guard Int(count) <= limit else { throw .status(.wrongLength) }
            return try inputs.draw(Int(count))
        }
    }

    static func wrongParameters(_ profile: DeviceProfile) -> StatusWord {
        profile.isPlainOpenPGP ? .incorrectP1P2 : .wrongParameters
    }

    func requireAdmin() throws(Refusal) {
        guard verified.contains(Password.admin) else { throw .status(.securityStatusNotSatisfied) }
    }
}

extension DeviceProfile {
    /// Whether the card is an OpenPGP card without other applications.
    var isPlainOpenPGP: Bool { model == .openPGP || model == .gnuk }
    /// Whether the card is a Gnuk token.
    var isGnuk: Bool { model == .gnuk }
}
