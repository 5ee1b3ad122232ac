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
    private var access: PIVUnlocking
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
        guard case .piv(let place) = container.place else { throw ApprovalError.wrongKey(container.account.name) }
        let service = try await run.openPIV()
        try await service.check(is: place.keySerial, of: "container '\(container.account.name.printable)'")
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
        } catch {
            // A container may be moved between two keys.
            guard RefusedCredential(causing: error) != nil, let serial = place.keySerial else { throw error }
            throw Concerning(.key(String(serial)), error)
        }
        return try await use.sign(text, with: publicKey, access)
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

extension PIVService {
    /// Refuses another security key than the one that has an account's key.
    func check(is wanted: UInt32?, of account: String) throws {
        guard let wanted, let found = try serial(), wanted != found else { return }
        throw Explanation(
            "other-key", .noDevice,
            "the key of \(account) is on the security key \(wanted), this is \(found)",
            hint: "plug it in, or select it with --device \(wanted)")
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
    let place: ApprovalKeyPlace

    /// The private key, if it is in software.
    var secret: SharedSecret? { (key as? SoftwareApprovalKey)?.der }

    /// Generates the key that the options of an enrollment describe.
    ///
    /// - Parameter access: The opened slot, if it had to be opened before the link was known.
    static func make(
        _ verb: ApproveEnroll, _ link: PushLink, _ access: EnrolmentAccess.Slot?, _ run: Run
    ) async throws -> NewApproveKey {
        if verb.software {
            run.terminal.warn(
                "key-in-software", "the private key is kept in software: anyone who can open the store can approve")
            let key = try SoftwareApprovalKey()
            return NewApproveKey(key: key, place: .software)
        }
        let access = if let access { access } else { try await EnrolmentAccess.Slot.open(verb, run) }
        let (service, slot) = (access.service, access.slot)
        let touch = verb.touch ?? (verb.listen != nil && !link.isPollOnly ? .always : .cached)
        let policies = KeyPolicies(pin: verb.pinPolicy, touch: touch)
        let progress = Progress(run.terminal, "generating an \(verb.algorithm) key in slot \(slot)")
        defer { progress.end() }
        let made = try await PIVApprovalKey.make(service, slot, verb.algorithm, policies)
        let key = DeviceKey(made.publicKey, made.place, run, access.unlocking, "prove that the new key works")
        return NewApproveKey(key: key, place: .piv(made.place))
    }

    /// Deletes a key in a slot, which no account uses, if the firmware supports it, and otherwise says that it remains.
    func discard() async { await (key as? DeviceKey)?.discard() }
}

/// What an enrollment opens before a server is asked for anything: the slot for the key, or the store's key.
struct EnrolmentAccess {
    /// A free slot, and the permission to write to it.
    struct Slot {
        let service: PIVService
        let slot: PIVSlot
        var unlocking: PIVUnlocking

        static func open(_ verb: ApproveEnroll, _ run: Run) async throws -> Slot {
            let service = try await run.openPIV(isPatient: true)
            let slot = try await PIVApprovalKey.slot(PIVSlot(verb.slot), service)
            var unlocking = run.piv(service, verb.key.pin, verb.managementKey)
            try await unlocking.manage(for: "generate a key for the account")
            return Slot(service: service, slot: slot, unlocking: unlocking)
        }
    }

    var slot: Slot?
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
        var slot = try await Slot.open(verb, run)
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
