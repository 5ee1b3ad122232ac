// SPDX-License-Identifier: Apache-2.0

import YKAge
import YKCrypto
public import YKFIDO
import YKHSMAuth
public import YKKeys
public import YKOATH
import YKOTP
import YKOpenPGP
import YKPIV
import YKSSH
import YKSecrets
import YKTransport
import YKWire
import YKX509

/// Finds out what a key opens, without writing to it and without a touch.
public struct InventoryReader {
    /// Entries of files and volumes; those that belong to this key become items.
    public var references: [CredentialReference] = []
    /// Whether to list discoverable credentials, which requires the PIN.
    public var listsPasskeys = false
    /// How to prompt for the PIN.
    public var interaction = FIDOInteraction()
    /// Unlocks OATH accounts that have a password; throws if it cannot.
    public var unlock: (OATHService) async throws -> Void = { _ in throw OATHError.locked }

    let key: Key

    /// Creates a reader.
    public init(_ key: Key) { self.key = key }

    /// An inventory, and why parts of it are missing.
    public struct Reading: Sendable {
        /// The inventory.
        public var inventory: Inventory
        /// The errors behind its gaps.
        public var problems: [(kind: Inventory.Kind, error: any Error)] = []

        /// Records a gap with its error, unless the whole reading was cancelled.
        mutating func miss(_ kind: Inventory.Kind, _ reason: Inventory.Gap.Reason, _ error: any Error) throws {
            if LinkError(causing: error) == .cancelled { throw error }
            note(Inventory.Gap(kind, reason))
            problems.append((kind, error))
        }

        /// Records a gap.
        mutating func note(_ gap: Inventory.Gap) {
            if !inventory.gaps.contains(where: { $0.kind == gap.kind }) { inventory.gaps.append(gap) }
        }
    }

    /// Reads the inventory. An application that the key does not have is not a gap.
    ///
    /// - Parameter time: Now, in seconds since 1970.
    /// - Throws: `FIDOError` if passkeys were requested and cannot be listed; `KeyError` if the key cannot be reached.
    public func read(at time: Int64) async throws -> Reading {
        let details = KeyDetails(try await key.identity())
        let described = InventoriedKey(name: details.name, serial: details.serial, version: details.version)
        var reading = Reading(inventory: Inventory(key: described, time: time))
        let stored = try await readFIDO(&reading)
        try await readOATH(&reading)
        let slots = try await readPIV(&reading)
        try await readOpenPGP(&reading)
        try await readHSMAuth(&reading)
        try await readSecrets(&reading)
        try await readOTP(&reading)
        sort(stored, slots, &reading)
        return reading
    }

    // MARK: the cards

    /// The times for which codes are compared, from the test vectors of RFC 6238; no service accepts them now.
    static let times: [Int64] = [59, 1_111_111_109]

    private func readOATH(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(OATHService.self) }) else { return }
            if await service.info.isLocked {
                do { try await unlock(service) } catch { return try reading.miss(.oath, .locked, error) }
            }
            for entry in try await service.codes(at: Self.times[0]) {
                reading.inventory.items.append(try await item(entry, service))
            }
            await service.close()
        } catch { try reading.miss(.oath, .failed, error) }
    }

    private func item(_ entry: OATHEntry, _ service: OATHService) async throws -> Inventory.Item {
        let id = entry.account.id
        var mark: String?
        if case .code(let first) = entry.outcome {
            mark = "\(first.text) \(try await service.code(for: id, at: Self.times[1]).text)"
        }
        return Inventory.Item(.oath, id.text, name: id.text, mark: mark)
    }

    /// Reads the slots, and returns the keys for age.
    private func readPIV(_ reading: inout Reading) async throws -> [AgePublicKey] {
        var keys: [AgePublicKey] = []
        do {
            guard let service = try await opened({ try await key.open(PIVService.self) }) else { return [] }
            for slot in try await service.report().slots {
                let certificate = try? slot.certificate?.get()
                let key = slot.metadata?.publicKey ?? certificate?.publicKey
                reading.inventory.items.append(.piv(slot.slot, key?.subjectPublicKeyInfo, certificate))
                guard slot.slot.retiredNumber != nil, let age = key.flatMap(AgePublicKey.init) else { continue }
                keys.append(age)
                let recipient = age.recipient.text()
                reading.inventory.items.append(
                    Inventory.Item(.age, "recipient", name: recipient, mark: recipient))
            }
            await service.close()
        } catch { try reading.miss(.piv, .failed, error) }
        return keys
    }

    private func readOpenPGP(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(OpenPGPService.self) }) else { return }
            for key in try await service.status().keys where key.slot != .attestation {
                guard let fingerprint = key.fingerprint.map({ Hex.encode($0).uppercased() }) else { continue }
                reading.inventory.items.append(
                    Inventory.Item(.openPGP, fingerprint, name: "\(key.slot) \(fingerprint)", mark: fingerprint))
            }
            await service.close()
        } catch { try reading.miss(.openPGP, .failed, error) }
    }

    /// Opens an application; `nil` if the key does not have it.
    func opened<Service>(_ open: () async throws -> Service) async throws -> Service? {
        do { return try await open() } catch {
            if KeyError.isAbsence(ofApplication: error) { return nil }
            throw error
        }
    }

    // MARK: FIDO

    /// Lists passkeys, and finds the key's own credentials among the references.
    ///
    /// - Returns: The remaining references: they concern other applications, or belong to other keys.
    private func readFIDO(_ reading: inout Reading) async throws -> [CredentialReference] {
        let service: FIDOService
        do {
            guard let opened = try await opened({ try await key.open(FIDOService.self, interaction: interaction) })
            else { return references }
            service = opened
        } catch {
            if listsPasskeys { throw error }
            try reading.miss(.passkey, .failed, error)
            return references
        }
        let stored = try await passkeys(of: service, &reading)
        var rest: [CredentialReference] = []
        for reference in references {
            switch reference.test {
            case .credential(let id, let rpID):
                let mark = CredentialReference.fingerprint(id)
                let isListed = stored.contains { $0.id == mark }
                let isOwn = try await isListed ? true : service.owns(id, rpID: rpID)
                if isOwn { reading.add(reference.item) }
            case .stored(let fingerprint, let rpID):
                if stored.contains(where: { $0.publicKey == fingerprint && $0.rpID == rpID }) {
                    reading.add(reference.item)
                } else if !listsPasskeys {
                    reading.note(Inventory.Gap(reference.item.kind, .unknown))
                }
            default: rest.append(reference)
            }
        }
        await service.close()
        return rest
    }

    /// The fingerprints of a stored credential.
    private struct Stored {
        let id: String
        let publicKey: String?
        let rpID: String
    }

    private func passkeys(of service: FIDOService, _ reading: inout Reading) async throws -> [Stored] {
        guard await service.hasCTAP2 else { return [] }
        let info = try await service.info()
        guard info.option(.rk) == true else { return [] }
        guard listsPasskeys else {
            reading.note(Inventory.Gap(.passkey, .notRequested))
            return []
        }
        // Without a PIN or fingerprint the list cannot be read; but such a key may still have credentials.
        guard info.hasCredentialManagement, info.hasPIN || info.givesTokenForUV else {
            try reading.miss(
                .passkey, .failed, info.hasCredentialManagement ? FIDOError.pinNotSet : .unsupported("credMgmt"))
            return []
        }
        if try await service.credentialStorageIfTold()?.existing == 0 { return [] }
        let found = try await service.discoverableCredentials()
        for credential in found { reading.add(.stored(credential)) }
        return found.map { credential in
            Stored(
                id: CredentialReference.fingerprint(credential.credential.id.id),
                publicKey: PAMU2FEntry.publicKey(credential.credential.publicKey).map {
                    CredentialReference.fingerprint($0.bytes)
                }, rpID: credential.relyingParty.id)
        }
    }

    // MARK: references of other applications

    private func sort(_ references: [CredentialReference], _ keys: [AgePublicKey], _ reading: inout Reading) {
        for reference in references {
            let isOwn: Bool
            switch reference.test {
            case .ageKey(let key): isOwn = keys.contains(key)
            case .ageTag(let tag): isOwn = keys.contains { $0.tag == tag }
            case .ageFile(let wrapping): isOwn = keys.contains { wrapping.isTagged(for: $0.tag) }
            case .serial(let serial): isOwn = serial == reading.inventory.key.serial
            case .none:
                reading.note(Inventory.Gap(reference.item.kind, .unknown))
                isOwn = false
            case .credential, .stored: isOwn = false  // The key has no FIDO application.
            }
            if isOwn { reading.add(reference.item) }
        }
    }
}

extension InventoryReader.Reading {
    /// Adds an item once: a file may refer to a key that the key itself lists.
    fileprivate mutating func add(_ item: Inventory.Item) {
        let isKnown = inventory.items.contains { known in
            known.kind == item.kind && known.target == item.target && known.mark == item.mark
        }
        if !isKnown { inventory.items.append(item) }
    }
}

extension Inventory.Item {
    /// Creates the item for a slot: with a certificate it is matched by the subject, without one by the public key.
    static func piv(_ slot: PIVSlot, _ publicKey: [UInt8]?, _ certificate: X509Certificate?) -> Inventory.Item {
        let mark = (publicKey ?? certificate?.subjectPublicKeyInfo.encoded).map(CredentialReference.fingerprint)
        guard let certificate else {
            return Inventory.Item(.piv, mark ?? "\(slot)", name: "slot \(slot), no certificate", mark: mark)
        }
        let subject = certificate.subject.description
        return Inventory.Item(.piv, "\(slot) \(subject)", name: "slot \(slot), \(subject)", mark: mark)
    }

    /// Creates the item for a stored credential: an SSH key by its public key, any other as a passkey.
    static func stored(_ stored: DiscoverableCredential) -> Inventory.Item {
        let rpID = stored.relyingParty.id
        if rpID.lowercased().hasPrefix("ssh:"),
            let key = SSHPublicKey(cose: stored.credential.publicKey, application: rpID)
        {
            return .ssh(key)
        }
        return Inventory.Item(
            .passkey, "\(rpID) \(Hex.encode(stored.credential.user.id))", name: "\(stored.name) at \(rpID)",
            mark: CredentialReference.fingerprint(stored.credential.id.id), relyingParty: rpID)
    }
}

// The applications whose secrets a person stores on both keys.

extension InventoryReader {
    /// The challenge that compares two slots; its response is kept only as a hash.
    private static let challenge = Array("ykit inventory: compare two slots".utf8)

    /// Lists the programmed slots. A slot that answers challenges without a touch is marked by its answer.
    func readOTP(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(OTPService.self) }) else { return }
            var states: [(slot: OTPSlot, state: OTPSlotState)] = []
            for slot in OTPSlot.allCases { states.append((slot, await service.state(of: slot))) }
            // Over a card nothing tells that a touch is awaited.
            let showsTouch = await service.carrier == .hid
            await service.close()
            for (slot, state) in states where state.isProgrammed != false {
                let use =
                    switch state.isTouchTriggered {
                    case true?: "types when touched"
                    case false?: "answers challenges"
                    case nil: "use not reported"
                    }
                let mark = showsTouch && state.isTouchTriggered == false ? await answer(of: slot) : nil
                reading.inventory.items.append(
                    Inventory.Item(
                        .otp, "slot \(slot.rawValue)", name: "slot \(slot.rawValue), \(use)", mark: mark))
            }
        } catch { try reading.miss(.otp, .failed, error) }
    }

    /// The hash of a slot's answer; `nil` if it requires a touch, which ends the exchange.
    private func answer(of slot: OTPSlot) async -> String? {
        let touched = Cancellation()
        var keys = key.keys
        keys.environment.cancellation = touched
        let own = keys.selected
        guard let service = try? await own.open(OTPService.self, touch: { touched.cancel() }) else { return nil }
        let answer = try? await service.hmac(slot, Self.challenge)
        await service.close()
        return answer.map { Hex.encode(HashAlgorithm.sha256.hash($0)) }
    }

    /// Lists the credentials for a YubiHSM, whose secrets no key reveals.
    func readHSMAuth(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(HSMAuthService.self) }) else { return }
            for credential in try await service.credentials() {
                let label = credential.label.text
                reading.inventory.items.append(Inventory.Item(.hsmAuth, label, name: label))
            }
            await service.close()
        } catch { try reading.miss(.hsmAuth, .failed, error) }
    }

    /// Lists the entries of a Nitrokey's Secrets application that need no PIN.
    func readSecrets(_ reading: inout Reading) async throws {
        do {
            guard let service = try await opened({ try await key.open(SecretsService.self) }) else { return }
            for entry in try await service.entries() {
                let name = entry.name.text
                reading.inventory.items.append(Inventory.Item(.secrets, name, name: name))
            }
            await service.close()
        } catch SecretsError.otherApplication {
            // The key has Yubico's OATH application instead.
        } catch { try reading.miss(.secrets, .failed, error) }
    }
}
