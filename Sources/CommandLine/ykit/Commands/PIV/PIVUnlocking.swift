// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKWire

/// Authenticates to a PIV application before an operation: with the PIN, a fingerprint or the management key. A verb
/// asks for each of them once.
struct PIVUnlocking {
    let world: World
    let service: PIVService
    let pin: PINOptions
    var isVerified = false
    /// Provides the PIN instead of the options.
    var source: ((PIVService, String) async throws -> PIVPIN)?
    /// The PIN, once the card has accepted it.
    private var held: HeldPIN?

    init(_ world: World, _ service: PIVService, _ pin: PINOptions) {
        self.world = world
        self.service = service
        self.pin = pin
    }

    /// Verifies the PIN, unless that is already done.
    mutating func verify(for reason: String) async throws {
        if isVerified { return }
        let pin =
            if let source { try await source(service, reason) } else {
                try await world.pivPIN(pin, of: service, for: reason)
            }
        try await service.verify(pin.copy())
        hold(pin)
    }

    /// Stores a PIN that the card has accepted.
    mutating func hold(_ pin: consuming PIVPIN) {
        held = HeldPIN(pin: pin)
        isVerified = true
    }

    /// Performs the verification that a slot requires before its key is used, and returns the key's properties.
    ///
    /// The PIN is verified last, since some policies require it immediately before the operation. If the card does not
    /// report the policy, the PIN is verified for all slots except 9E, and there only if one is given.
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

    /// Verifies the PIN; if it was verified already, verifies it once more, since other commands may have come in
    /// between.
    private mutating func verifyAgain(for reason: String) async throws {
        guard let held else { return try await verify(for: reason) }
        try await service.verify(held.pin.copy())
    }

    /// Verifies a fingerprint; falls back to the PIN if it is not recognized.
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

/// A PIN that the card has accepted, wiped at the end of the verb.
private final class HeldPIN: Sendable {
    let pin: PIVPIN

    init(pin: consuming PIVPIN) { self.pin = pin }
}

/// The key to use.
struct KeyUse {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    /// When it requires a touch; `nil` if the card does not report it.
    let touch: TouchPolicy?
    /// Its public key, if the card reports it.
    let key: PublicKey?

    /// Uses the key; prompts for a touch while the key waits for one.
    func touching<Result>(_ world: World, _ body: () async throws -> Result) async throws -> Result {
        guard touch != .never, world.plan == nil else { return try await body() }
        guard touch == nil else { return try await TouchPrompt.during(world.terminal, body) }
        let prompt = TouchPrompt(world.terminal, "touch the key if it blinks")
        defer { prompt.end() }
        return try await body()
    }
}

extension PIVAlgorithm {
    /// Whether keys of this type support the operation; keys of unknown type do not.
    fileprivate func fits(_ operation: PIVOperation) -> Bool {
        switch operation {
        case .sign: self != .x25519
        case .decrypt: modulusSize != nil
        case .derive: curve != nil || self == .x25519
        }
    }
}
