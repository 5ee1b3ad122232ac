// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKApproval
import YKCrypto
import YKPIV
import YKStore
import YKTransport
import YKUse

/// The key generated for a new account: in a slot of the security key, or in software.
final class NewApproveKey: ApprovalKey {
    /// The location of the private key.
    enum Private {
        case piv(PIVService)
        case software(SoftwareApprovalKey)
    }

    let `private`: Private
    let place: ApprovalKeyPlace
    let publicKey: PublicKey
    private let run: Run
    private var unlocking: PIVUnlocking?

    private init(
        _ private: Private, _ place: ApprovalKeyPlace, _ publicKey: PublicKey, _ run: Run,
        _ unlocking: PIVUnlocking? = nil
    ) {
        (self.private, self.place, self.publicKey) = (`private`, place, publicKey)
        (self.run, self.unlocking) = (run, unlocking)
    }

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
            return NewApproveKey(.software(key), .software, key.publicKey, run)
        }
        let access = if let access { access } else { try await EnrolmentAccess.Slot.open(verb, run) }
        let (service, slot) = (access.service, access.slot)
        let touch = verb.touch ?? (verb.listen != nil && !link.isPollOnly ? .always : .cached)
        let policies = KeyPolicies(pin: verb.pinPolicy, touch: touch)
        let progress = Progress(run.terminal, "generating an \(verb.algorithm) key in slot \(slot)")
        defer { progress.end() }
        let made = try await PIVApprovalKey.make(service, slot, verb.algorithm, policies)
        return NewApproveKey(.piv(service), .piv(made.place), made.publicKey, run, access.unlocking)
    }

    func sign(_ text: [UInt8]) async throws -> [UInt8] {
        switch `private` {
        case .software(let key): return try await key.sign(text)
        case .piv(let service):
            guard case .piv(let place) = place, var unlocking else { throw ApprovalError.possession }
            let use = try await unlocking.prepare(
                place.slot, PIVAlgorithm(publicKey), .sign, for: "prove that the new key works")
            self.unlocking = unlocking
            let publicKey = publicKey
            return try await use.touching(run.person) {
                try await service.sign(
                    .message(text), use.slot, hash: .sha256, algorithm: use.algorithm, key: publicKey)
            }
        }
    }

    /// Deletes a key that no account uses if the firmware supports it, and otherwise says that it remains.
    func discard() async {
        guard case .piv(let service) = `private`, case .piv(let place) = place else { return }
        await run.discard(publicKey, place.slot, service)
    }
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

extension Run {
    /// Deletes a key that no account uses if the firmware supports it, and otherwise says that it remains.
    func discard(_ key: PublicKey, _ slot: PIVSlot, _ service: PIVService) async {
        if await PIVApprovalKey.remove(slot, key, service) { return }
        terminal.warn(
            "unused-key", "slot \(slot) still has a key that no account uses; overwrite or delete it yourself")
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
