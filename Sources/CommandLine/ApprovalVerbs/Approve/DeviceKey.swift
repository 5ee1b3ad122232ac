// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKPIV
import YKProtocols
import YKStore
import YKTransport
import YKUse

/// The key of a container, with prompts on the command line for the PIN and touch of a signature.
final class DeviceKey: ApprovalKey {
    let publicKey: PublicKey
    let place: PIVKeyPlace
    private let run: Run
    private let access: PIVUnlocking
    private let reason: String

    fileprivate init(
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
        let name = "container '\(container.account.name.printable)'"
        guard case .piv(let place) = container.place else { throw ApprovalError.wrongKey(container.account.name) }
        let service = try await run.openPIV()
        if place.keySerial != nil { try place.check(try await service.serial(), of: name) }
        try await PIVApprovalKey.check(service, place.slot, container.publicKey)
        return DeviceKey(
            container.publicKey, place, run, run.piv(service, pin, managementKey), "sign for \(name)")
    }

    /// A container may be moved between two keys, so that an error about the PIN names this one.
    func sign(_ text: [UInt8]) async throws -> [UInt8] {
        try await access.sign(text, place.slot, publicKey, for: reason, on: place.keySerial)
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
    func discard() async {
        if await PIVApprovalKey.remove(place.slot, publicKey, access.service) { return }
        run.terminal.warn(
            "unused-key", "slot \(place.slot) still has a key that no account uses; overwrite or delete it yourself")
    }
}

extension PIVKeyPlace {
    /// Refuses another security key than the one that has an account's key.
    ///
    /// - Parameter found: The serial number of the security key, if it reports one.
    func check(_ found: UInt32?, of account: String) throws {
        guard let wanted = keySerial, let found, wanted != found else { return }
        throw Explanation(
            "other-key", .noDevice,
            "the key of \(account) is on the security key \(wanted), this is \(found)",
            hint: "plug it in, or select it with --device \(wanted)")
    }
}

extension PIVUnlocking {
    /// Signs a text with SHA-256 and an account's key, after PIN and touch.
    ///
    /// - Parameter serial: The serial number of the security key, for an error about its PIN; `nil` if it needs no name.
    func sign(
        _ text: [UInt8], _ slot: PIVSlot, _ key: PublicKey, for reason: String, on serial: UInt32?
    ) async throws -> [UInt8] {
        let use: PIVKeyUse
        do { use = try await prepare(slot, PIVAlgorithm(key), .sign, for: reason) } catch {
            guard RefusedCredential(causing: error) != nil, let serial else { throw error }
            throw Concerning(.key(String(serial)), error)
        }
        guard use.key.map({ $0 == key }) ?? true else { throw ApprovalError.otherKey(slot) }
        return try await use.touching(person) {
            try await service.sign(.message(text), slot, hash: .sha256, algorithm: use.algorithm, key: key)
        }
    }
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

/// The key generated for a new account: in a slot of the security key, or in software.
struct NewApproveKey {
    let key: any ApprovalKey

    var place: ApprovalKeyPlace { (key as? DeviceKey).map { .piv($0.place) } ?? .software }

    /// The private key, if it is in software.
    var secret: SharedSecret? { (key as? SoftwareApprovalKey)?.der }

    /// Generates the key that the options of an enrollment describe.
    ///
    /// - Parameter access: The opened slot, if it had to be opened before the link was known.
    static func make(
        _ verb: ApproveEnroll, _ link: PushLink, _ access: FreeSlot?, _ run: Run
    ) async throws -> NewApproveKey {
        if verb.software {
            run.terminal.warn(
                "key-in-software", "the private key is kept in software: anyone who can open the store can approve")
            return NewApproveKey(key: try SoftwareApprovalKey())
        }
        let slot = if let access { access } else { try await FreeSlot(for: verb, run) }
        let touch = verb.touch ?? (verb.listen != nil && !link.isPollOnly ? .always : .cached)
        let progress = Progress(run.terminal, "generating an \(verb.algorithm) key in slot \(slot.slot)")
        defer { progress.end() }
        return NewApproveKey(
            key: try await slot.makeKey(verb.algorithm, KeyPolicies(pin: verb.pinPolicy, touch: touch), run))
    }

    /// Deletes a key in a slot, which no account uses, if the firmware supports it, and otherwise says that it remains.
    func discard() async { await (key as? DeviceKey)?.discard() }
}

/// A free slot of a security key, and the permission to write to it.
struct FreeSlot {
    let slot: PIVSlot
    let unlocking: PIVUnlocking

    /// - Parameters:
    ///   - slot: The slot, which must be free; `nil` for the first free one of 82 to 95.
    ///   - makesRSA: Whether a key may be generated in it that takes the card long.
    init(
        _ slot: PIVSlot?, makesRSA: Bool, _ pin: PINOptions, _ managementKey: ManagementKeyOptions, _ run: Run
    ) async throws {
        let service = try await run.openPIV(isPatient: makesRSA)
        self.slot = try await PIVApprovalKey.slot(slot, service)
        unlocking = run.piv(service, pin, managementKey)
        try await unlocking.manage(for: "generate a key for the account")
    }

    /// The slot for the key of a push account.
    init(for verb: ApproveEnroll, _ run: Run) async throws {
        try await self.init(PIVSlot(verb.slot), makesRSA: true, verb.key.pin, verb.managementKey, run)
    }

    /// Generates a key.
    func makeKey(_ algorithm: PIVAlgorithm, _ policies: KeyPolicies, _ run: Run) async throws -> DeviceKey {
        let made = try await PIVApprovalKey.make(unlocking.service, slot, algorithm, policies)
        return DeviceKey(made.publicKey, made.place, run, unlocking, "prove that the new key works")
    }
}

/// What an enrollment opens before a server is asked for anything: the slot for the key, or the store's key.
struct EnrolmentAccess {
    var slot: FreeSlot?
    var sealing: SoftwareSealing?
    /// The credential for `--require uv`.
    var proof: UserProof?

    /// Opens what an enrollment needs, and verifies each PIN that it needs later. The FIDO2 application comes first, since
    /// selecting it ends what a PIN of PIV permits.
    static func open(_ verb: ApproveEnroll, _ book: AccountStore, _ run: Run) async throws -> EnrolmentAccess {
        if verb.software {
            let options = try verb.key.storeKey(software: true)
            return EnrolmentAccess(sealing: try await SoftwareSealing.prepare(book, options, run))
        }
        let proof = try await verb.proof(verb.name ?? verb.person.user ?? "", run)
        let slot = try await FreeSlot(for: verb, run)
        if verb.pinPolicy != .never { try await slot.unlocking.verify(for: "prove that the new key works") }
        return EnrolmentAccess(slot: slot, proof: proof)
    }
}

extension PIVApprovalKey {
    /// Returns the chosen slot, which must be free, or the first free one.
    static func slot(_ chosen: PIVSlot?, _ service: PIVService) async throws -> PIVSlot {
        guard let chosen else { return try await freeSlot(service) }
        guard try await isFree(chosen, service) != false else {
            throw Explanation(
                "slot-in-use", .policy, "slot \(chosen) holds a key or a certificate, which was not changed",
                hint: "choose another, or let --slot auto find one")
        }
        return chosen
    }
}

/// Seals the private keys of accounts without hardware.
struct SoftwareSealing {
    let key: StoreKey
    /// The seal for a store without keys.
    let seal: StoreSeal?

    /// Opens the store's key, or creates one for a store without any.
    static func prepare(
        _ book: AccountStore, _ options: StoreKeyOptions, _ run: Run
    ) async throws -> SoftwareSealing {
        guard book.content.seals.isEmpty else {
            var options = options
            options.software = book.content.seals.contains { $0.isSoftware }
            return SoftwareSealing(key: try await run.open(book.content, options, for: "seal the key"), seal: nil)
        }
        let key = try StoreKey(run.environment.random)
        let new = NewStoreKeyOptions()
        return SoftwareSealing(
            key: key, seal: try await run.seal(key, options, new, besides: [], of: "account store"))
    }
}

extension PIVSlot {
    /// Parses the slot in `--slot`; `nil` for auto.
    static func forAccount(_ text: String) throws -> PIVSlot? {
        if text == "auto" { return nil }
        guard let slot = PIVSlot(text), slot != .attestation else {
            throw UsageError("--slot must be \(PIVSlot.mainWords), \(PIVSlot.retiredWords), or auto")
        }
        return slot
    }
}
