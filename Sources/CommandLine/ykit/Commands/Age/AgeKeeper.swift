// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKAge
import YKCrypto
import YKFIDO
import YKHardware
import YKKeys
import YKPIV
import YKTransport

/// Performs age's operations on security keys, and asks for PINs, touches and missing keys through age.
final class AgeKeeper: AgeKeySource {
    /// The maximum number of PIN prompts per operation.
    private static let attempts = 3

    private let world: World
    private let dialogue: AgeDialogue
    /// The card of the last operation.
    private var open: (service: PIVService, serial: UInt32, unlocking: PIVUnlocking)?
    private var skipped: Set<UInt32> = []
    /// The command line has no PIN options, only variables.
    private let given: PINOptions
    /// Why a key refused that PIN, which is not sent to it again for the next file; by serial number, or for FIDO2.
    private var refusals: [UInt32: PIVError] = [:]
    private var refusal: FIDOError?
    /// The agent that may hold keys; not asked when the command line, or its variables, name where keys are.
    private let agent: AgeAgent?

    init(_ world: World, _ dialogue: AgeDialogue) {
        (self.world, self.dialogue) = (world, dialogue)
        given = PINOptions()
        agent = world.namesNoKey ? AgeAgent() : nil
    }

    /// YKIT_PIN is the PIN of PIV if an identity is in a slot; else that of FIDO2.
    func expect(_ identities: [AgeIdentity]) {
        let kinds = identities.map { identity -> PINApplication? in
            switch identity {
            case .slot, .yubikey: .piv
            case .fido2: .fido
            case .any: nil
            }
        }
        if kinds.contains(.piv) {
            world.pinClaims.reserve(for: .piv)
        } else if kinds.contains(.fido) {
            world.pinClaims.reserve(for: .fido)
        }
    }

    func words(_ error: any Error) -> String {
        if let error = error as? AgeError { return error.description }
        return Explain.explain(error).lines().joined(separator: "; ").shown(styled: false)
    }

    func ephemeral() throws -> SharedSecret {
        SharedSecret(Secret(try world.environment.random.draw(32, secret: true)))
    }

    // MARK: an agent

    func isHeldByAgent(_ key: AgeAgentKey) async -> Bool { agent?.holds(key) ?? false }

    func agentFileKey(_ wrapping: AgeWrapping, _ key: AgeAgentKey) async throws -> SharedSecret? {
        try agent?.fileKey(wrapping, key) {
            dialogue.say("waiting for the SSH agent, which may ask for a PIN or a touch")
        }
    }

    // MARK: PIV

    func slotKeys(serial: UInt32?, slot: UInt8?) async throws -> [AgeSlotKey] {
        guard let card = try await card(serial) else { return [] }
        let slots = slot.map { [PIVSlot(rawValue: $0)] }
        return try await card.service.ageSlots(slots ?? PIVSlot.retired).map { $0.on(card.serial) }
    }

    func agree(_ key: AgeSlotKey, with peer: PublicKey) async throws -> SharedSecret? {
        guard var card = try await card(key.serial == 0 ? nil : key.serial) else { return nil }
        if let refusal = refusals[card.serial] { throw refusal }
        let slot = PIVSlot(rawValue: key.slot)
        var rounds = 0
        while true {
            rounds += 1
            do {
                let use = try await card.unlocking.prepare(slot, nil, .derive, for: "decrypt a file")
                guard use.key.flatMap({ AgePublicKey($0) }).map({ $0 == key.key }) ?? true else {
                    throw Explanation(
                        "no-such-key", .notFound, "slot \(slot) holds another key than the identity names",
                        hint: "ykit age identity prints the identities of a key")
                }
                let service = card.service
                defer { open?.unlocking = card.unlocking }
                return try await use.touching(world) {
                    try await service.derive(with: peer, use.slot, algorithm: use.algorithm)
                }
            } catch PIVError.wrong(.pin, let tries)
                where !isGiven(.piv, card.serial) && tries > 0 && rounds < Self.attempts
            {
                dialogue.say("that was not the PIN")
            } catch let error as PIVError {
                if case .wrong(.pin, _) = error, isGiven(.piv, card.serial) { refusals[card.serial] = error }
                throw error
            }
        }
    }

    /// Returns the card with a serial number, or the one that is plugged in; `nil` if the user continues without it.
    private func card(
        _ serial: UInt32?
    ) async throws -> (service: PIVService, serial: UInt32, unlocking: PIVUnlocking)? {
        let serial = serial == 0 ? nil : serial
        if let open, serial == nil || serial == open.serial { return open }
        if let serial, skipped.contains(serial) { return nil }
        await close()
        while true {
            do {
                if let (service, found) = try await openPIV(serial) {
                    open = (service, found, unlocking(service, found))
                    return open
                }
            } catch {
                guard Self.isAbsence(error) else { throw error }
            }
            let name = serial.map { " with serial number \($0)" } ?? ""
            guard try dialogue.confirms("Insert the key\(name).", yes: "It is plugged in", no: "Skip it") else {
                if let serial { skipped.insert(serial) }
                return nil
            }
        }
    }

    /// Opens the PIV application of the card with a serial number, or of the only card; `nil` if it is another card.
    private func openPIV(_ serial: UInt32?) async throws -> (PIVService, UInt32)? {
        let selection = world.keys.selection
        guard let serial, selection.serial == nil else {
            let service = try await world.openPIV()
            let found = try await service.serial() ?? 0
            if serial == nil || serial == found { return (service, found) }
            await service.close()
            return nil
        }
        for keys in cards() {
            // Only PIV is selected: another application would end the verified state of the PIN.
            guard let service = try? await world.openPIV(of: keys) else { continue }
            if try await service.serial() == serial { return (service, serial) }
            await service.close()
        }
        // Firmware before 5.0 tells its serial number in another application only.
        let keys = world.keys.selecting(selection.with(serial: String(serial)))
        let service = try await world.openPIV(of: keys)
        let found = try await service.serial() ?? serial
        if found == serial { return (service, serial) }
        await service.close()
        return nil
    }

    /// Each card in a selected reader of the smart card service.
    private func cards() -> [Keys] {
        let selection = world.keys.selection
        guard world.software == nil, world.replay == nil, selection.path == nil,
            [.auto, .pcsc].contains(selection.transport),
            let readers = try? selection.filled(try world.keys.readers())
        else { return [] }
        return readers.map { world.keys.selecting(KeySelection(reader: $0.name, transport: .pcsc)) }
    }

    private func unlocking(_ service: PIVService, _ serial: UInt32) -> PIVUnlocking {
        var unlocking = PIVUnlocking(world, service, given, key: serial == 0 ? nil : String(serial))
        unlocking.sharesPIN = true
        guard !isGiven(.piv, serial) else { return unlocking }
        unlocking.source = { [dialogue] service, _ in
            let tries = try await service.tries(of: .pin)
            if tries?.isBlocked == true { throw PIVError.blocked(.pin) }
            let name = serial == 0 ? "" : " of key \(serial)"
            guard let pin = try dialogue.secret("PIN\(name)\(Self.left(tries?.triesLeft))") else {
                throw Explanation("no-pin", .declined, "nobody gave the PIN")
            }
            return try PIVPIN(pin.value.copy())
        }
        return unlocking
    }

    /// Whether a variable has the PIN of an application, and of this key.
    private func isGiven(_ application: PINApplication, _ serial: UInt32? = nil) -> Bool {
        world.source(of: application, given, key: serial.flatMap { $0 == 0 ? nil : String($0) }).isGiven
    }

    /// The remaining PIN retries, as a suffix for the prompt.
    private static func left(_ tries: Int?) -> String { tries.map { " (\(Tries.next($0)))" } ?? "" }

    private func close() async {
        guard let open else { return }
        self.open = nil
        await open.service.close()
    }

    private static func isAbsence(_ error: any Error) -> Bool {
        switch error {
        case KeyError.none, KeyError.notFound: true
        default: false
        }
    }

    // MARK: FIDO2

    func secret(of credential: AgeCredential) async throws -> SharedSecret? {
        await close()
        while true {
            do { return try await secretOnce(of: credential) } catch FIDOError.noCredentials {
            } catch { guard Self.isAbsence(error) else { throw error } }
            guard try dialogue.confirms("Insert the key of this identity.", yes: "It is plugged in", no: "Skip it")
            else {
                return nil
            }
        }
    }

    private func secretOnce(of credential: AgeCredential) async throws -> SharedSecret {
        let service = try await openFIDO()
        defer { Task { await service.close() } }
        do { return try await service.secret(of: credential) } catch let error as FIDOError {
            if case .wrongPIN = error, isGiven(.fido) { refusal = error }
            throw error
        }
    }

    private func openFIDO() async throws -> FIDOService {
        if let refusal { throw refusal }
        guard !isGiven(.fido) else { return try await world.openFIDO(given, for: "decrypt a file") }
        return try await world.openFIDO(
            FIDOInteraction(pin: { [dialogue] request in
                (try? dialogue.secret("PIN of the key's FIDO2\(Self.left(request.retries?.count))")) ?? nil
            }))
    }
}

extension FIDOService {
    /// Returns a credential's secret for age.
    func secret(of credential: AgeCredential) async throws -> SharedSecret {
        let token = SystemdToken(
            rpID: AgeCredential.rpID, credential: credential.id, salt: credential.salt,
            isVerified: credential.isVerified, needsTouch: true)
        return try secret(of: token)
    }
}
