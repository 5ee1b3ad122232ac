// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKWire

/// Shows a PIV application what it wants to see before it does something: PIN, finger, management key. A verb asks for
/// each of them once.
struct PIVUnlocking {
    let world: World
    let service: PIVService
    let pin: PINOptions
    var isVerified = false
    /// Gives the PIN in the options' place.
    var source: ((PIVService, String) async throws -> PIVPIN)?
    /// The PIN, once the card has taken it.
    private var held: HeldPIN?

    init(_ world: World, _ service: PIVService, _ pin: PINOptions) {
        self.world = world
        self.service = service
        self.pin = pin
    }

    /// Gives the PIN, when it was not given yet.
    mutating func verify(for reason: String) async throws {
        if isVerified { return }
        let pin =
            if let source { try await source(service, reason) } else {
                try await world.pivPIN(pin, of: service, for: reason)
            }
        try await service.verify(pin.copy())
        hold(pin)
    }

    /// Takes note of a PIN that the card has taken.
    mutating func hold(_ pin: consuming PIVPIN) {
        held = HeldPIN(pin: pin)
        isVerified = true
    }

    /// Gives what the key in a slot wants before it is used, and says what kind of key that is.
    ///
    /// The PIN comes last: some keys want it right before they are used. Where the card does not tell when a key needs
    /// it, it is given for all slots but 9E, and there when there is one.
    mutating func prepare(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for reason: String
    ) async throws -> KeyUse {
        world.terminal.purpose(reason)
        let metadata = try await service.metadata(of: slot)
        var key = metadata?.publicKey
        var algorithm = metadata?.algorithm ?? kind
        if algorithm == nil {
            key = try await service.publicKey(slot)
            algorithm = key.flatMap { PIVAlgorithm($0) }
        }
        guard let algorithm else { throw PIVError.noKey(slot) }
        guard algorithm.fits(operation) else { throw PIVError.unfit(algorithm, for: operation) }
        switch metadata?.policies.pin {
        case .never?: break
        case .matchOnce?, .matchAlways?: try await match(for: reason)
        case nil where slot == .cardAuthentication && !pin.isGiven: break
        case .once?: try await verify(for: reason)
        default: try await verifyAgain(for: reason)
        }
        return KeyUse(slot: slot, algorithm: algorithm, touch: metadata?.policies.touch, key: key)
    }

    /// Gives the PIN, and gives the same once more when other commands came in between.
    private mutating func verifyAgain(for reason: String) async throws {
        guard let held else { return try await verify(for: reason) }
        try await service.verify(held.pin.copy())
    }

    /// Waits for a finger; when it is not recognised, the PIN will do.
    private mutating func match(for reason: String) async throws {
        if isVerified || world.plan != nil { return }
        world.terminal.say("put a finger on the key's sensor")
        do {
            _ = try await service.verifyFingerprint()
            isVerified = true
        } catch {
            switch error {
            case .wrong(.fingerprint, _), .blocked(.fingerprint):
                world.terminal.notice("not recognised, the PIN will do")
            default: throw error
            }
            try await verify(for: reason)
        }
    }
}

/// A PIN that the card has taken, wiped at the end of the verb.
private final class HeldPIN: Sendable {
    let pin: PIVPIN

    init(pin: consuming PIVPIN) { self.pin = pin }
}

/// The key that is used.
struct KeyUse {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    /// When it needs a touch; `nil` when the card does not tell.
    let touch: TouchPolicy?
    /// Its public half, where the card tells.
    let key: PublicKey?

    /// Uses the key; the person is asked for a touch when the key waits for one.
    func touching<Result>(_ world: World, _ body: () async throws -> Result) async throws -> Result {
        guard touch != .never, world.plan == nil else { return try await body() }
        guard touch == nil else { return try await TouchPrompt.during(world.terminal, body) }
        let prompt = TouchPrompt(world.terminal, "touch the key if it blinks")
        defer { prompt.end() }
        return try await body()
    }
}

extension PIVAlgorithm {
    /// Whether keys of this kind do that; those of kinds that are not known are not asked.
    fileprivate func fits(_ operation: PIVOperation) -> Bool {
        switch operation {
        case .sign: self != .x25519
        case .decrypt: modulusSize != nil
        case .derive: curve != nil || self == .x25519
        }
    }
}
