// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
package import YKWire

/// The OpenPGP application (OpenPGP Smart Card Application 3.4) of a YubiKey with firmware 5.2 or later, or of a card
/// from another vendor.
package struct OpenPGPApplet: Applet {
    package static let aid = AID.openPGP
    package static let capabilities = VirtualCapability.openPGP
    package static let classes: Set<UInt8> = [0x00, 0x80]

    /// The verified PINs: PW1 for signatures (81), PW1 for other operations (82), PW3 (83).
    var verified: Set<UInt8> = []
    /// The cardholder certificate chosen by SELECT DATA or GET NEXT DATA: 0 authentication, 1 decryption, 2 signature.
    var occurrence = 0
    /// The time of the last touch in this session, for the cached touch policies.
    var lastTouch: ContinuousClock.Instant?

    package init() {}

    package mutating func select(
        _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard !key.openPGP.isTerminated else { throw .status(.noInputData) }
        if !key.profile.isPlainOpenPGP, key.openPGP.attestationRoot.isEmpty {
            try OpenPGPAttestationChain.make(&key, world)
        }
        return []
    }

    package mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard let instruction = Instruction(rawValue: command.ins), instruction.isKnown(to: key.profile) else {
            throw .status(.unknownInstruction)
        }
        guard command.cla == (instruction == .attest ? 0x80 : 0x00) else { throw .status(.unknownClass) }
        if key.openPGP.isTerminated, instruction != .activate, instruction != .version {
            throw .status(.conditionsNotSatisfied)
        }
        switch instruction {
        case .verify: try verify(command, &key)
        case .changeReference: try changeReference(command, &key)
        case .resetRetry: try resetRetry(command, &key)
        case .setRetries: try setRetries(command, &key)
        case .getData: return try getData(command, key)
        case .getNextData: return try getNextData(command, key)
        case .selectData: try selectData(command, key.profile)
        case .putData: try putData(command, &key)
        case .importKey: try importKey(command, &key)
        case .generate: return try generate(command, &key, world)
        case .performOperation: return try perform(command, &key, world)
        case .authenticate: return try authenticate(command, &key, world)
        case .challenge: return try challenge(command, key.profile, world)
        case .attest: try attest(command, &key, world)
        case .terminate: try terminate(command, &key)
        case .activate: try activate(command, &key)
        case .version:
            let version = key.profile.version
            return [version.major, version.minor, version.patch].map { (number: UInt8) -> UInt8 in
                (number / 10 % 10) << 4 | number % 10
            }
        }
        return []
    }

    /// Instructions of the protocol (§7.2; those from F1 on are Yubico's).
    enum Instruction: UInt8 {
        case verify = 0x20
        case changeReference = 0x24
        case performOperation = 0x2A
        case resetRetry = 0x2C
        case activate = 0x44
        case generate = 0x47
        case challenge = 0x84
        case authenticate = 0x88
        case selectData = 0xA5
        case getData = 0xCA
        case getNextData = 0xCC
        case putData = 0xDA
        case importKey = 0xDB
        case terminate = 0xE6
        case version = 0xF1
        case setRetries = 0xF2
        case attest = 0xFB

        func isKnown(to profile: DeviceProfile) -> Bool {
            switch self {
            case .version, .setRetries: !profile.isPlainOpenPGP
            case .attest: !profile.isPlainOpenPGP && profile.version >= Version(5, 2, 1)
            default: true
            }
        }
    }

    /// TERMINATE DF (§7.2.16): requires the admin PIN, or both PINs to be blocked.
    private mutating func terminate(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        let isBlocked = key.openPGP.user.left == 0 && key.openPGP.admin.left == 0
        guard verified.contains(0x83) || isBlocked else { throw .status(.securityStatusNotSatisfied) }
        key.openPGP.isTerminated = true
        verified = []
    }

    /// ACTIVATE FILE (§7.2.17): resets a terminated application to a new card's state.
    private mutating func activate(_ command: APDU, _ key: inout VirtualKeyState) throws(Refusal) {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(key.profile)) }
        guard key.openPGP.isTerminated else { return }
        key.openPGP = key.openPGP.afterReset
        self = OpenPGPApplet()
    }

    /// GET CHALLENGE (§7.2.15): returns as many random bytes as expected.
    private func challenge(
        _ command: APDU, _ profile: DeviceProfile, _ world: VirtualWorld
    ) throws(Refusal) -> [UInt8] {
        guard command.p1 == 0, command.p2 == 0 else { throw .status(Self.wrongParameters(profile)) }
        let limit = profile.isPlainOpenPGP ? 0x20 : 0x0BFE
        switch command.le {
        case .none: throw .status(.wrongLength)
        case .max: return try world.draw(min(256, limit))
        case .bytes(let count):
            guard Int(count) <= limit else { throw .status(.wrongLength) }
            return try world.draw(Int(count))
        }
    }

    static func wrongParameters(_ profile: DeviceProfile) -> StatusWord {
        profile.isPlainOpenPGP ? .incorrectP1P2 : .wrongParameters
    }

    func requireAdmin() throws(Refusal) {
        guard verified.contains(0x83) else { throw .status(.securityStatusNotSatisfied) }
    }
}

extension DeviceProfile {
    /// Whether the card is an OpenPGP card without other applications.
    var isPlainOpenPGP: Bool { model == .openPGP || model == .gnuk }
    /// Whether the card is a Gnuk token.
    var isGnuk: Bool { model == .gnuk }
}
