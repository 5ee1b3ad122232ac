// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKFIDO
import YKHardware
import YKInteraction
import YKKeys
import YKPIV
import YKProtocols
import YKTransport
import YKUse

/// Performs age's operations on security keys, and asks for PINs, touches and missing keys through age.
final class AgeKeeper: AgeKeySource {
    /// The maximum number of PIN prompts per operation.
    private static let attempts = 3

    private let run: Run
    private let dialogue: AgeDialogue
    private lazy var cards = CardSession { [unowned self] in try await open($0) }
    private var skipped: Set<UInt32> = []
    /// PINs from environment variables; the command line has no options for them.
    private let given: PINOptions
    /// The agent that may hold keys; not asked if an option or environment variable selects a key.
    private let agent: AgeAgent?

    init(_ run: Run, _ dialogue: AgeDialogue) {
        (self.run, self.dialogue) = (run, dialogue)
        given = PINOptions()
        agent = run.namesNoKey ? AgeAgent(run) : nil
    }

    /// Reserves YKIT_PIN for PIV if an identity is in a slot, otherwise for FIDO2.
    func expect(_ identities: [AgeIdentity]) {
        let kinds = identities.map { identity -> CredentialKind? in
            switch identity {
            case .slot, .yubikey: .pivPIN
            case .fido2: .fidoPIN
            case .any: nil
            }
        }
        if kinds.contains(.pivPIN) {
            run.pinClaims.reserve(for: .pivPIN)
        } else if kinds.contains(.fidoPIN) {
            run.pinClaims.reserve(for: .fidoPIN)
        }
    }

    func words(_ error: any Error) -> String {
        if let error = error as? AgeError { return error.description }
        return Explanation(error).lines().joined(separator: "; ").shown(styled: false)
    }

    func ephemeral() throws -> SharedSecret {
        SharedSecret(Secret(try run.environment.random.draw(32, secret: true)))
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
        let slots = slot.map { [PIVSlot(rawValue: $0)] } ?? PIVSlot.retired
        return try await use(serial) { card in
            try await card.service.ageSlots(slots).map { $0.on(card.serial ?? 0) }
        } ?? []
    }

    func agree(_ key: AgeSlotKey, with peer: PublicKey) async throws -> SharedSecret? {
        try await use(key.serial) { card in
            let slot = PIVSlot(rawValue: key.slot)
            var rounds = 0
            while true {
                rounds += 1
                do {
                    let use = try await card.unlocking.prepare(slot, nil, .derive, for: ConsentWords.age)
                    guard use.key.flatMap({ AgePublicKey($0) }).map({ $0 == key.key }) ?? true else {
                        throw Explanation(
                            "no-such-key", .notFound, "slot \(slot) holds a different key than the identity names",
                            hint: "ykit age identity prints the identities of a key")
                    }
                    return try await use.touching(run.person) {
                        try await card.service.derive(with: peer, use.slot, algorithm: use.algorithm)
                    }
                } catch  where Self.mayRepeat(after: error) && !isGiven(.pivPIN, card.serial) && rounds < Self.attempts
                {
                    dialogue.say("wrong PIN")
                }
            }
        }
    }

    /// The user continues without a card.
    private struct Skipped: Error {}

    /// Uses the card with a serial number, or for 0 and `nil` the one that is open or plugged in.
    ///
    /// - Returns: `nil` if the user continues without it.
    private func use<Value>(
        _ serial: UInt32?, _ body: (CardSession.Card) async throws -> Value
    ) async throws -> Value? {
        do { return try await cards.use(serial == 0 ? nil : serial ?? cards.serial, body) } catch is Skipped {
            return nil
        }
    }

    /// Opens the card with a serial number, or the one that is plugged in, after the one that was used before is closed: its
    /// reader is searched, too.
    private func open(_ serial: UInt32?) async throws -> CardSession.Card {
        if let serial, skipped.contains(serial) { throw Skipped() }
        await cards.close()
        while true {
            do {
                if let (service, found) = try await openPIV(serial) {
                    return CardSession.Card(unlocking(service, found), serial: found)
                }
            } catch {
                guard Self.isAbsence(error) else { throw error }
            }
            guard try await isInserted(serial) else {
                if let serial { skipped.insert(serial) }
                throw Skipped()
            }
        }
    }

    /// Opens the PIV application of the card with a serial number, or of the only card; `nil` if it is another card.
    private func openPIV(_ serial: UInt32?) async throws -> (PIVService, UInt32?)? {
        let selection = run.keys.selection
        guard let serial, selection.serial == nil else {
            let service = try await run.openPIV()
            let found = try await service.serial()
            if serial == nil || serial == found { return (service, found) }
            await service.close()
            return nil
        }
        for card in cardsInReaders() {
            // Selects only PIV: selecting another application would reset the PIN's verified state.
            guard let service = try? await run.openPIV(of: card) else { continue }
            if try await service.serial() == serial { return (service, serial) }
            await service.close()
        }
        // Firmware before 5.0 reports its serial number only in another application.
        let service = try await run.openPIV(of: run.keys.key(serial: String(serial)))
        let found = try await service.serial() ?? serial
        if found == serial { return (service, serial) }
        await service.close()
        return nil
    }

    /// Each card in a selected reader of the smart card service.
    private func cardsInReaders() -> [Key] {
        let selection = run.keys.selection
        guard !run.isVirtual, run.replay == nil, selection.path == nil,
            [.auto, .pcsc].contains(selection.transport),
            let readers = try? selection.filled(try run.keys.readers())
        else { return [] }
        return readers.map { run.keys.selecting(KeySelection(reader: $0.name, transport: .pcsc)).selected }
    }

    private func unlocking(_ service: PIVService, _ serial: UInt32?) -> PIVUnlocking {
        let key = serial.map { String($0) }
        let asked = AgePerson(dialogue, key: key, mayAskForPIN: !isGiven(.pivPIN, serial))
        let given = run.given(.pivPIN, run.source(of: .pivPIN, given, key: key))
        let unlocking = PIVUnlocking(service, run.broker([given], person: asked), run.person, key: key)
        unlocking.sharesPIN = true
        return unlocking
    }

    /// Whether the user may try another PIN.
    private static func mayRepeat(after error: any Error) -> Bool {
        switch error {
        case PIVError.wrong(.pin, let tries): tries > 0
        case CredentialError.refusedBefore: true
        default: false
        }
    }

    /// Whether an environment variable provides this key's PIN for an application.
    private func isGiven(_ kind: CredentialKind, _ serial: UInt32? = nil) -> Bool {
        run.source(of: kind, given, key: serial.map { String($0) }).isGiven(run.terminal)
    }

    /// Asks for a key; returns whether it is plugged in now.
    private func isInserted(_ serial: UInt32?) async throws -> Bool {
        do throws(Declined) { return try await AgePerson(dialogue).answer(MissingKey(serial: serial)) } catch .withdrawn
        {
            throw AgeError.connection("age ended the conversation")
        } catch { return false }
    }

    private static func isAbsence(_ error: any Error) -> Bool {
        switch error {
        case KeyError.none, KeyError.notFound: true
        default: false
        }
    }

    // MARK: FIDO2

    func secret(of credential: AgeCredential) async throws -> SharedSecret? {
        await cards.close()
        while true {
            do { return try await secretOnce(of: credential) } catch FIDOError.noCredentials {
            } catch { guard Self.isAbsence(error) else { throw error } }
            guard try await isInserted(nil) else { return nil }
        }
    }

    private func secretOnce(of credential: AgeCredential) async throws -> SharedSecret {
        let asked = AgePerson(dialogue, mayAskForPIN: !isGiven(.fidoPIN))
        let given = run.given(.fidoPIN, run.source(of: .fidoPIN, given))
        let pin = FIDOCredential(
            run.broker([given], person: asked), CredentialID(.fidoPIN, key: nil), to: ConsentWords.age, run.person)
        let service = try await run.openFIDO(pin.interaction)
        defer { Task { await service.close() } }
        do { return try await service.secret(of: credential) } catch { throw pin.problem ?? error }
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

/// The user of age, who is asked through age's dialogue.
struct AgePerson: Person {
    private let dialogue: AgeDialogue
    private let key: String?
    let presence: Presence

    /// - Parameters:
    ///   - key: The serial number of the key whose PIN is asked for, if it is known.
    ///   - mayAskForPIN: Whether a PIN may be asked for; not if one was given.
    init(_ dialogue: AgeDialogue, key: String? = nil, mayAskForPIN: Bool = true) {
        (self.dialogue, self.key, presence) = (dialogue, key, Presence(mayAskForPIN ? .here : .absent))
    }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws(Declined) -> SharedSecret {
        let secret: SharedSecret?
        do { secret = try dialogue.secret(ConsentWords.pin(request, key: key)) } catch { throw .withdrawn }
        guard let secret else { throw .no }
        return secret
    }

    /// age shows a question with one or two answers.
    nonisolated(nonsending) func answer<Q: Question>(_ question: Q) async throws(Declined) -> Q.Answer {
        guard let words = (question as? any Worded)?.words.question else { throw .nobodyToAsk }
        switch question.way {
        case .agree(let answer):
            guard try confirms(words + "?", yes: "Yes", no: "No") else { throw .no }
            return answer
        case .pick(let choices) where choices.count == 2:
            return try confirms(words, yes: choices[0].label, no: choices[1].label)
                ? choices[0].answer : choices[1].answer
        case .type, .pick, .secret: throw .nobodyToAsk
        }
    }

    private func confirms(_ question: String, yes: String, no: String) throws(Declined) -> Bool {
        do { return try dialogue.confirms(question, yes: yes, no: no) } catch { throw .withdrawn }
    }
}

/// Whether a key that an identity names, and that is not plugged in, is plugged in now.
struct MissingKey: Question, Worded {
    /// Its serial number, if the identity has it.
    let serial: UInt32?

    var way: Way<Bool> { .pick([("It is plugged in", true), ("Skip it", false)]) }

    var words: QuestionWords {
        QuestionWords(
            "age", serial.map { "Insert the key with serial number \($0)." } ?? "Insert the key for this identity.")
    }
}
