// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKApproval
import YKCrypto
import YKPIV
import YKTransport

/// The PIN of a key, asked for once by a verb that opens the PIV application several times.
final class PINKeeper {
    private let world: World
    private let options: PINOptions
    private var held: Held?

    private final class Held {
        let pin: PIVPIN

        init(_ pin: consuming PIVPIN) { self.pin = pin }
    }

    init(_ world: World, _ options: PINOptions) { (self.world, self.options) = (world, options) }

    /// Returns the unlocking of slots with that PIN.
    ///
    /// - Parameter key: The serial number of the key.
    func unlocking(_ service: PIVService, of key: UInt32? = nil) -> PIVUnlocking {
        let key = key.map { String($0) }
        var unlocking = PIVUnlocking(world, service, options, key: key)
        unlocking.source = { service, reason in
            if let held = self.held { return held.pin.copy() }
            let pin = try await self.world.pivPIN(self.options, of: service, for: reason, key: key)
            self.held = Held(pin.copy())
            return pin
        }
        return unlocking
    }
}

/// The key of a container, with prompts on the command line for the PIN and touch of a signature.
final class DeviceKey: ApprovalKey {
    let publicKey: PublicKey
    let place: PIVKeyPlace
    private let world: World
    private var unlocking: PIVUnlocking
    private let reason: String

    private init(
        _ publicKey: PublicKey, _ place: PIVKeyPlace, _ world: World, _ unlocking: PIVUnlocking, _ reason: String
    ) {
        (self.publicKey, self.place, self.world) = (publicKey, place, world)
        (self.unlocking, self.reason) = (unlocking, reason)
    }

    /// Opens the key of a container, and checks that the slot still holds it.
    static func open(_ container: ContainerAccount, _ pin: PINKeeper, _ world: World) async throws -> DeviceKey {
        guard case .piv(let place) = container.place else { throw ApprovalError.wrongKey(container.account.name) }
        let service = try await world.openPIV()
        if let wanted = place.keySerial, let found = try await service.serial(), wanted != found {
            throw Explanation(
                "other-key", .noDevice,
                "the key of container '\(container.account.name.printable)' is on the security key \(wanted), this is "
                    + "\(found)", hint: "plug it in, or name it with --device \(wanted)")
        }
        try await PIVApprovalKey.check(service, place.slot, container.publicKey)
        let unlocking = pin.unlocking(service)
        return DeviceKey(
            container.publicKey, place, world, unlocking, "sign for container '\(container.account.name.printable)'")
    }

    /// Generates a key in a free slot.
    ///
    /// - Parameters:
    ///   - slot: The slot, or `nil` for the first free one of 82 to 95.
    ///   - algorithm: P-384 for a container, RSA for a push account.
    static func make(
        _ slot: PIVSlot?, _ touch: TouchPolicy, _ managementKey: ManagementKeyOptions, _ pin: PINKeeper, _ world: World,
        _ algorithm: PIVAlgorithm = .p384
    ) async throws -> DeviceKey {
        let service = try await world.openPIV(isPatient: algorithm.modulusSize != nil)
        if let slot, try await PIVApprovalKey.isFree(slot, service) == false {
            throw Explanation(
                "slot-in-use", .policy, "slot \(slot) holds a key or a certificate; it is not touched",
                hint: "choose another, or let --slot auto find one")
        }
        let chosen: PIVSlot
        if let slot { chosen = slot } else { chosen = try await PIVApprovalKey.freeSlot(service) }
        var unlocking = pin.unlocking(service)
        try await unlocking.manage(managementKey, for: "make a key for the account")
        let made = try await PIVApprovalKey.make(service, chosen, algorithm, KeyPolicies(pin: .once, touch: touch))
        return DeviceKey(made.publicKey, made.place, world, unlocking, "prove that the new key works")
    }

    func sign(_ text: [UInt8]) async throws -> [UInt8] {
        let use: KeyUse
        do {
            use = try await unlocking.prepare(place.slot, PIVAlgorithm(publicKey), .sign, for: reason)
        } catch let error as PIVError {
            // A container may be moved between two keys.
            guard error.isRefusedPIN, let serial = place.keySerial else { throw error }
            throw Explain.explain(error).of(key: String(serial))
        }
        let (service, key) = (unlocking.service, publicKey)
        return try await use.touching(world) {
            try await service.sign(.message(text), use.slot, hash: .sha256, algorithm: use.algorithm, key: key)
        }
    }

    /// Closes the card, so that another application can be selected.
    func close() async { await unlocking.service.close() }

    /// Deletes the key if the firmware supports it; returns whether it did.
    func delete(_ managementKey: ManagementKeyOptions) async throws -> Bool {
        guard await unlocking.service.identity.supports(.moveKey) != false else { return false }
        try await unlocking.manage(managementKey, for: "delete the key of the container")
        return await PIVApprovalKey.remove(place.slot, publicKey, unlocking.service)
    }

    /// Deletes the key if the firmware supports it, and otherwise says that it remains.
    func discard() async {
        if await PIVApprovalKey.remove(place.slot, publicKey, unlocking.service) { return }
        world.terminal.warn("slot \(place.slot) keeps a key that no account uses; overwrite it or delete it by hand")
    }
}

extension World {
    /// Returns the world of another key, named by the state file of a virtual key or a serial number.
    func other(_ name: String) throws -> World {
        guard Files.isFile(name) || name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Explanation.usage("--to is a serial number, or the state file of a virtual key")
        }
        return try besides(name)
    }

    /// Returns the client that registers and synchronizes containers.
    func containerClient() throws -> ContainerClient {
        var client = ContainerClient(try http(), environment.random)
        client.timeout = environment.timeout
        return client
    }

    /// Returns the client that enrols at TiQR services and answers logins.
    func tiqrClient() throws -> TiQRClient {
        var client = TiQRClient(try http(), environment.random)
        client.timeout = environment.timeout
        return client
    }
}
