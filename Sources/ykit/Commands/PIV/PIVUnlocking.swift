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

    init(_ world: World, _ service: PIVService, _ pin: PINOptions) {
        self.world = world
        self.service = service
        self.pin = pin
    }

    /// Gives the PIN, when it was not given yet.
    mutating func verify(for reason: String) async throws {
        if isVerified { return }
        try await service.verify(try await world.pivPIN(pin, of: service, for: reason))
        isVerified = true
    }

    /// Gives what the key in a slot wants before it is used, and says what kind of key that is.
    ///
    /// Where the card does not tell when a key needs the PIN, it is given for all slots but 9E.
    mutating func prepare(
        _ slot: PIVSlot, _ kind: PIVAlgorithm?, _ operation: PIVOperation, for reason: String
    ) async throws -> KeyUse {
        let metadata = try await service.metadata(of: slot)
        let algorithm: PIVAlgorithm
        if let known = metadata?.algorithm ?? kind {
            algorithm = known
        } else {
            algorithm = try await service.findAlgorithm(slot)
        }
        guard algorithm.fits(operation) else { throw PIVError.unfit(algorithm, for: operation) }
        switch metadata?.policies.pin {
        case .never?: break
        case .matchOnce?, .matchAlways?: try await match(for: reason)
        case nil where slot == .cardAuthentication: break
        default: try await verify(for: reason)
        }
        return KeyUse(slot: slot, algorithm: algorithm, touch: metadata?.policies.touch, key: metadata?.publicKey)
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
            case .wrong(.fingerprint, _), .blocked(.fingerprint): world.terminal.say("not recognised, the PIN will do")
            default: throw error
            }
            try await verify(for: reason)
        }
    }
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
        let prompt = TouchPrompt(world.terminal, touch == nil ? "touch the key if it blinks" : TouchPrompt.usual)
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
