// SPDX-License-Identifier: Apache-2.0

import Applications
import Synchronization
import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKFIDO
import YKInteraction
import YKKeyAgent
import YKPIV
import YKProtocols
import YKSSH
import YKUse

/// Performs an agent's operations on the key. The card stays open for a moment after a request, so that the requests that
/// follow need no selection and no PIN; the agent keeps the PIN, and the list of PIV keys as long as the same key is present.
final class AgentKeeper {
    /// How long the card is withheld from other programs.
    private static let patience = Duration.seconds(2)
    /// How long an answer proves that the card is still present.
    private static let freshness = Duration.milliseconds(250)
    /// How long the list of keys is cached, in case slots change.
    private static let listLifetime = Duration.seconds(60)

    let run: Run
    let usesPIV: Bool
    /// The card; it is closed at the end of a PIN's lifetime, too.
    private lazy var card = CardSession(
        hold,
        schedule: { [keys] number, time in
            Task {
                try? await Task.sleep(for: time)
                keys.release(number)
            }
        }, open: { [unowned self] _ in try await open() })
    private let hold: CardHold
    private var lastAnswer = ContinuousClock.now
    /// The keys of the card that is open or was open last.
    private var known: (serial: UInt32?, keys: [PIVSlotKey], time: ContinuousClock.Instant)?
    private let given: [CommandLineCredential]
    let keys: AgentKeys
    private let credentials: CredentialBroker
    private let consent: AgentConsent
    /// The client for which the key is used now.
    private let turn = AgentTurn()
    /// The certificates of PIV keys.
    private let certificates: [SSHCertificate]
    /// Those that were reported as unused.
    private var reported: Set<[UInt8]> = []

    /// - Parameter pinPatience: How long a question for a PIN waits for its answer.
    init(
        _ run: Run, _ options: PINOptions, _ keys: AgentKeys, usesPIV: Bool, lifetime: Int?,
        policy: RemotePolicy, pinPatience: Duration, certificates: [SSHCertificate] = []
    ) {
        self.run = run
        self.keys = keys
        let person = AgentPerson(
            terminal: run.terminal, turn: turn, patience: policy.questionTime, pinPatience: pinPatience)
        consent = AgentConsent(policy, person: person)
        self.usesPIV = usesPIV
        self.certificates = certificates
        // A given PIN is for PIV, unless the agent does not use PIV.
        let (piv, fido) = usesPIV ? (options, PINOptions()) : (PINOptions(), options)
        given = [
            run.given(.pivPIN, run.source(of: .pivPIN, piv), isGivenNow: false),
            run.given(.fidoPIN, run.source(of: .fidoPIN, fido), isGivenNow: false),
        ]
        credentials = CredentialBroker(given, person: person, lifetime: lifetime.map { .seconds($0) })
        hold = CardHold(longest: min(Self.patience, lifetime.map { .seconds($0) } ?? Self.patience))
    }

    func `do`(_ job: AgentKeys.Job) async {
        switch job {
        case .identities: if keys.isListAwaited { keys.list(await identities()) }
        case .sign(let request, let call): await serve(call) { await signature(request) }
        case .answer(let request, let call): await serve(call) { await answer(request) }
        case .release(let number): await card.close(number)
        }
    }

    /// Uses the key for a client, unless it has hung up.
    private func serve<Value>(_ call: AgentCall<Value>, _ body: () async -> Value?) async {
        guard !call.caller.hasLeft else { return call.answer(nil) }
        turn.caller = call.caller
        defer { turn.caller = nil }
        call.answer(await body())
    }

    /// Releases the card.
    func end() async { await card.close() }

    /// Reads the given PINs while standard input is still available.
    func readPINs() throws {
        for pin in given { try pin.read() }
    }

    /// Returns the SSH credentials stored on the key.
    func resident() async throws -> [SecurityKeyFile] {
        try await withFIDO(for: "read its credentials for SSH") { try await SSHCredential.all(of: $0).map(\.file) }
    }

    // MARK: PIV

    private func open() async throws -> CardSession.Card {
        let service = try await run.openPIV()
        do {
            let serial = try await service.serial()
            if let known, serial == nil || serial != known.serial || known.time.duration(to: .now) > Self.listLifetime {
                self.known = nil
            }
            lastAnswer = .now
            let unlocking = PIVUnlocking(service, credentials, run.person, key: serial.map { String($0) })
            unlocking.isForAgent = true
            return CardSession.Card(unlocking, serial: serial)
        } catch {
            await service.close()
            throw error
        }
    }

    /// Uses the card; after an error it is closed, and its keys are read again.
    private func use<Value>(_ body: (CardSession.Card) async throws -> Value) async throws -> Value {
        try await card.use { card in
            do {
                let value = try await body(card)
                lastAnswer = .now
                return value
            } catch {
                known = nil
                throw error
            }
        }
    }

    /// Returns the keys in the card's slots. If they are known, a single command checks whether the card is still present.
    private func slotKeys(_ card: CardSession.Card) async throws -> [PIVSlotKey] {
        if let known {
            if lastAnswer.duration(to: .now) > Self.freshness { _ = try await card.service.serial() }
            return known.keys
        }
        let keys = try await card.service.keys(in: PIVSlot.main + PIVSlot.retired)
        known = (card.serial, keys, .now)
        return keys
    }

    func identities() async -> [SSHIdentity] {
        guard usesPIV else { return [] }
        let keys = try? await use { open in
            SSHSlotKey.all(try await slotKeys(open), serial: open.serial).map(\.identity)
        }
        if let keys, !keys.isEmpty { reportUnused(keys) }
        return (keys ?? []).flatMap { key in [key] + certificates.compactMap(key.with) }
    }

    /// Reports certificates of keys that are not there, once.
    private func reportUnused(_ keys: [SSHIdentity]) {
        for certificate in certificates where keys.allSatisfy({ $0.with(certificate) == nil }) {
            guard reported.insert(certificate.blob).inserted else { continue }
            run.terminal.warn("no-key", "no PIV key for the certificate '\(certificate.keyID.printable)'")
        }
    }

    /// Uses a key in a slot, once the PIN that it requires is verified.
    func using<Value>(
        _ key: PIVSlotKey, _ operation: PIVOperation, _ reason: String, of card: CardSession.Card,
        _ body: (PIVKeyUse) async throws -> Value
    ) async throws -> Value {
        // A cached PIN may have been changed since: it is then discarded, and the user is asked.
        while true {
            do {
                let use = try await card.unlocking.prepare(
                    key.slot, PIVAlgorithm(key.publicKey), operation, for: reason)
                guard use.key.map({ $0 == key.publicKey }) ?? true else { throw PIVError.noKey(key.slot) }
                return try await use.touching(run.person) { try await body(use) }
            } catch let error as PIVError {
                guard case .wrong(.pin, let tries) = error, tries > 1 else { throw error }
            }
        }
    }

    // MARK: Signatures

    private func signature(_ request: SSHSignatureRequest) async -> SSHSignature? {
        let use = AgentUse(request)
        let reason = use.purpose
        guard await isAllowed(use, needsConfirmation: request.needsConfirmation), !turn.hasLeft else { return nil }
        do {
            guard let credential = request.identity.credential else { return try await signWithSlot(request, reason) }
            return try await CardHold.repeating { try await sign(request, with: credential, reason) }
        } catch {
            report(error)
            return nil
        }
    }

    /// Announces the use of a key, and returns whether it is allowed. The card is released while the user is asked, so
    /// that other programs do not wait for the answer.
    func isAllowed(_ use: AgentUse, needsConfirmation: Bool) async -> Bool {
        run.terminal.purpose(use.line)
        run.terminal.say(use.line)
        guard consent.asks(use, needsConfirmation: needsConfirmation) else { return true }
        await card.close()
        guard let refusal = await consent.refusal(of: use) else { return true }
        run.terminal.say("not allowed: \(turn.hasLeft ? Self.left : refusal.words)")
        return false
    }

    private static let left = "the client has hung up"

    /// Reports why the key was not used, unless the user who cannot be asked has already said so.
    func report(_ error: any Error) {
        if turn.hasLeft { return run.terminal.say("not used: \(Self.left)") }
        if case CredentialError.nobodyToAsk = error { return }
        run.terminal.warn(Explanation(error))
    }

    private func signWithSlot(_ request: SSHSignatureRequest, _ reason: String) async throws -> SSHSignature? {
        let wanted = request.identity.publicKey
        return try await use { open in
            let keys = try await slotKeys(open)
            guard let key = keys.first(where: { SSHSlotKey.slots.contains($0.slot) && $0.publicKey == wanted.key })
            else { return nil }
            let bytes = try await using(key, .sign, reason, of: open) { use in
                try await open.service.sign(
                    .message(request.data), key.slot, hash: wanted.hash ?? request.hash, algorithm: use.algorithm,
                    key: key.publicKey)
            }
            return try SSHSignature(bytes, by: wanted, hash: request.hash)
        }
    }

    private func sign(
        _ request: SSHSignatureRequest, with credential: SecurityKeyFile, _ reason: String
    ) async throws -> SSHSignature {
        // The FIDO application may be on the same card.
        await card.close()
        return try await withFIDO(for: reason) { try await $0.sign(request.data, with: credential) }
    }

    /// Uses the FIDO application; its PIN is entered for each use unless it is given.
    private func withFIDO<Value>(
        for reason: String, _ body: (FIDOService) async throws -> Value
    ) async throws -> Value {
        let pin = FIDOCredential(
            credentials, CredentialID(.fidoPIN, key: nil), to: reason, isForOnce: true, run.person)
        let service = try await run.openFIDO(pin.interaction)
        do {
            let value = try await body(service)
            await service.close()
            return value
        } catch {
            await service.close()
            throw pin.problem ?? error
        }
    }

    /// Answers a request from age's plugin: whether the card has a key, or the file key that it unwraps.
    func answer(_ request: SSHExtensionRequest) async -> [UInt8]? {
        guard usesPIV, request.name == AgeUnwrapRequest.name, let wanted = try? AgeUnwrapRequest(request.content)
        else { return nil }
        do {
            keys.list(await identities())
            let found = try await use { try await key(wanted.key, $0) }
            guard let (slot, _) = found else { return nil }
            guard let wrapping = wanted.wrapping else { return AgeUnwrapAnswer.key.withBytes { $0 } }
            let use = AgentUse(.decrypt, key: "PIV \(slot.slot)", hops: request.hops)
            guard await isAllowed(use, needsConfirmation: request.needsConfirmation) else { return nil }
            let answer = try await unwrap(wrapping, wanted.key, use.purpose)
            return answer?.withBytes { $0 }
        } catch {
            report(error)
            return nil
        }
    }

    private func key(
        _ wanted: AgeAgentKey, _ open: CardSession.Card
    ) async throws -> (PIVSlotKey, AgePublicKey)? {
        for slot in try await slotKeys(open) {
            if let key = AgePublicKey(slot.publicKey), wanted.isKey(key) { return (slot, key) }
        }
        return nil
    }

    private func unwrap(
        _ wrapping: AgeWrapping, _ wanted: AgeAgentKey, _ reason: String
    ) async throws -> AgeUnwrapAnswer? {
        try await use { open in
            guard let (slot, key) = try await key(wanted, open) else { return nil }
            let peer = try wrapping.peer()
            let secret = try await using(slot, .derive, reason, of: open) { use in
                try await open.service.derive(with: peer, slot.slot, algorithm: use.algorithm)
            }
            return try wrapping.fileKey(secret.value, of: key).map(AgeUnwrapAnswer.fileKey) ?? .key
        }
    }
}
