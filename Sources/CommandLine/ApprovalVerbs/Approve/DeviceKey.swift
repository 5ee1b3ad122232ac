// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKPIV
import YKTransport
import YKUse

/// The key of a container, with prompts on the command line for the PIN and touch of a signature.
final class DeviceKey: ApprovalKey {
    let publicKey: PublicKey
    let place: PIVKeyPlace
    private let run: Run
    private var access: PIVUnlocking
    private let reason: String

    private init(
        _ publicKey: PublicKey, _ place: PIVKeyPlace, _ run: Run, _ access: PIVUnlocking, _ reason: String
    ) {
        (self.publicKey, self.place, self.run) = (publicKey, place, run)
        (self.access, self.reason) = (access, reason)
    }

    /// Opens the key of a container, and checks that the slot still holds it.
    static func open(
        _ container: ContainerAccount, _ pin: PINOptions, _ managementKey: ManagementKeyOptions = .init(),
        in run: Run
    ) async throws -> DeviceKey {
        guard case .piv(let place) = container.place else { throw ApprovalError.wrongKey(container.account.name) }
        let service = try await run.openPIV()
        if let wanted = place.keySerial, let found = try await service.serial(), wanted != found {
            throw Explanation(
                "other-key", .noDevice,
                "the key of container '\(container.account.name.printable)' is on the security key \(wanted), this is "
                    + "\(found)", hint: "plug it in, or select it with --device \(wanted)")
        }
        try await PIVApprovalKey.check(service, place.slot, container.publicKey)
        let access = run.piv(service, pin, managementKey)
        return DeviceKey(
            container.publicKey, place, run, access, "sign for container '\(container.account.name.printable)'")
    }

    /// Generates a key in a free slot.
    ///
    /// - Parameters:
    ///   - slot: The slot, or `nil` for the first free one of 82 to 95.
    ///   - algorithm: P-384 for a container, RSA for a push account.
    static func make(
        _ slot: PIVSlot?, _ touch: TouchPolicy, _ managementKey: ManagementKeyOptions, _ pin: PINOptions,
        _ run: Run,
        _ algorithm: PIVAlgorithm = .p384
    ) async throws -> DeviceKey {
        let service = try await run.openPIV(isPatient: algorithm.modulusSize != nil)
        let chosen = try await PIVApprovalKey.slot(slot, service)
        var access = run.piv(service, pin, managementKey)
        try await access.manage(for: "generate a key for the account")
        let made = try await PIVApprovalKey.make(service, chosen, algorithm, KeyPolicies(pin: .once, touch: touch))
        return DeviceKey(made.publicKey, made.place, run, access, "prove that the new key works")
    }

    func sign(_ text: [UInt8]) async throws -> [UInt8] {
        let use: PIVKeyUse
        do {
            use = try await access.prepare(place.slot, PIVAlgorithm(publicKey), .sign, for: reason)
        } catch let error as PIVError {
            // A container may be moved between two keys.
            guard error.isRefusedPIN, let serial = place.keySerial else { throw error }
            throw Explanation(error).of(key: String(serial))
        }
        let (service, key) = (access.service, publicKey)
        return try await use.touching(run.person) {
            try await service.sign(.message(text), use.slot, hash: .sha256, algorithm: use.algorithm, key: key)
        }
    }

    /// Closes the card, so that another application can be selected.
    func close() async { await access.service.close() }

    /// Deletes the key if the firmware supports it; returns whether it did.
    func delete() async throws -> Bool {
        guard await access.service.identity.supports(.moveKey) != false else { return false }
        try await access.manage(for: "delete the key of the container")
        return await PIVApprovalKey.remove(place.slot, publicKey, access.service)
    }

    /// Deletes the key if the firmware supports it, and otherwise says that it remains.
    func discard() async { await run.discard(publicKey, place.slot, access.service) }
}

extension Run {
    /// Returns the run with another key, named by the state file of a virtual key or a serial number.
    func other(_ name: String) throws -> Run {
        guard Files.isFile(name) || name.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Explanation.usage("--to takes a serial number, or the state file of a virtual key")
        }
        return try besides(name)
    }

    /// Returns the client that registers and synchronizes containers.
    func containerClient() throws -> ContainerClient {
        var client = ContainerClient(try http(), environment.random)
        client.timeout = environment.timeout
        return client
    }

    /// Returns the client that enrolls at TiQR services and answers logins.
    func tiqrClient() throws -> TiQRClient {
        var client = TiQRClient(try http(), environment.random)
        client.timeout = environment.timeout
        return client
    }
}
