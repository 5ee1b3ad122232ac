// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKInteraction
import YKKeyAgent
import YKPIV
import YKProtocols
import YKSSH
import YKTransport
import YKUse
import YKWire

/// Performs an agent's operations on the key. The card stays open for a moment after a request (``AgentCard``); the agent
/// keeps the PIN, and the list of PIV keys as long as the same key is present.
final class AgentKeeper {
    let run: Run
    let usesPIV: Bool
    let card: AgentCard
    private let given: [CommandLineCredential]
    private let credentials: CredentialBroker
    private let prompt = AgentPrompt()
    private let consent: AgentConsent
    /// The certificates of PIV keys.
    private let certificates: [SSHCertificate]

    init(
        _ run: Run, _ options: PINOptions, _ keys: AgentKeys, usesPIV: Bool, lifetime: Int?,
        policy: RemotePolicy, certificates: [SSHCertificate] = []
    ) {
        self.run = run
        consent = AgentConsent(policy, user: AgentAsker(run.terminal, prompt, time: policy.questionTime))
        self.usesPIV = usesPIV
        self.certificates = certificates
        // A given PIN is for PIV, unless the agent does not use PIV.
        let (piv, fido) = usesPIV ? (options, PINOptions()) : (PINOptions(), options)
        given = [
            run.given(.pivPIN, run.source(of: .piv, piv), isGivenNow: false),
            run.given(.fidoPIN, run.source(of: .fido, fido), isGivenNow: false),
        ]
        credentials = CredentialBroker(
            given, person: AgentPerson(prompt: prompt), lifetime: lifetime.map { .seconds($0) })
        card = AgentCard(run, credentials, lifetime: lifetime) { number, end in
            Task {
                try? await Task.sleep(until: end, clock: .continuous)
                keys.release(number)
            }
        }
    }

    func `do`(_ job: AgentKeys.Job) async {
        switch job {
        case .identities(let continuation): continuation.resume(returning: await identities())
        case .sign(let request, let continuation): continuation.resume(returning: await signature(request))
        case .answer(let request, let continuation): continuation.resume(returning: await answer(request))
        case .release(let number): await card.end(number)
        }
    }

    /// Reads the given PINs while standard input is still available.
    func readPINs() throws {
        for pin in given { try pin.read() }
    }

    /// Returns the SSH credentials stored on the key.
    func resident() async throws -> [SecurityKeyFile] {
        try await withFIDO(for: "read its credentials for SSH") { try await SSHCredential.all(of: $0).map(\.file) }
    }

    // MARK: PIV

    private func identities() async -> [SSHIdentity] {
        guard usesPIV else { return [] }
        let keys = try? await BusyCard.retrying {
            try await card.use { session in
                SSHSlotKey.all(try await card.keys(&session), serial: session.serial).map(\.identity)
            }
        }
        return (keys ?? []).flatMap { key in [key] + certificates.compactMap(key.with) }
    }

    /// Uses a key in a slot, once the PIN that it requires is verified.
    func using<Value>(
        _ key: PIVSlotKey, _ operation: PIVOperation, _ reason: String, in session: inout AgentCard.Session,
        _ body: (PIVKeyUse) async throws -> Value
    ) async throws -> Value {
        // A cached PIN may have been changed since: it is then discarded, and the user is asked.
        while true {
            do {
                let use = try await session.access.prepare(
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
        let reason = use.words
        guard await isAllowed(use, needsConfirmation: request.needsConfirmation) else { return nil }
        do {
            return try await BusyCard.retrying {
                if let credential = request.identity.credential {
                    return try await sign(request, with: credential, reason)
                }
                return try await signWithSlot(request, reason)
            }
        } catch {
            let why = Explanation(error)
            run.terminal.warn(why.message)
            return nil
        }
    }

    /// Announces the use of a key, and returns whether it is allowed. The card is released while the user is asked, so
    /// that other programs do not wait for the answer.
    func isAllowed(_ use: AgentUse, needsConfirmation: Bool) async -> Bool {
        run.terminal.purpose("\(use.words), key \(use.key.printable)")
        run.terminal.say("\(use.words), key \(use.key.printable)")
        guard consent.asks(use, needsConfirmation: needsConfirmation) else { return true }
        await card.end()
        guard let refusal = await consent.refusal(of: use) else { return true }
        run.terminal.say("not allowed: \(refusal.words)")
        return false
    }

    private func signWithSlot(_ request: SSHSignatureRequest, _ reason: String) async throws -> SSHSignature? {
        let wanted = request.identity.publicKey
        return try await card.use { session in
            let keys = try await card.keys(&session)
            guard let key = keys.first(where: { SSHSlotKey.slots.contains($0.slot) && $0.publicKey == wanted.key })
            else { return nil }
            let service = session.service
            let bytes = try await using(key, .sign, reason, in: &session) { use in
                try await service.sign(
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
        await card.end()
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
}

/// Asks the user for PINs through the agent.
private struct AgentPerson: CredentialPrompt {
    let prompt: AgentPrompt
    let isThere = true

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        try await prompt.pin(ConsentWords.pin(request))
    }
}

extension AgentUse {
    /// The action, as a phrase after "to", and the machine that requests it unless it is this one.
    var words: String { action + (hops.isEmpty ? "" : ", requested from \(place)") }

    /// The question whether the key may be used, without the question mark.
    var question: String {
        ConsentWords.question(hops.isEmpty ? "a program here" : "a program at \(place)", asksTo: action, key: key)
    }

    /// The action, as a phrase after "to".
    private var action: String {
        switch operation {
        case .decrypt: ConsentWords.age
        case .sign(.login(let user, _, let bound), let host):
            "log in as '\(user.printable)'" + ((bound ?? host).map { " at \(Self.host($0))" } ?? "")
        case .sign(.file(let namespace), _): "sign a file for '\(namespace.printable)'"
        case .sign(.other(let bytes), _): "sign \(bytes) bytes of an unknown kind"
        }
    }

    /// The machine on which the client runs, and those through which its requests come.
    private var place: String {
        let places = hops.reversed().map(Self.host)
        guard let last = places.first else { return "this machine" }
        return last + places.dropFirst().map { " through \($0)" }.joined()
    }

    private static func host(_ key: [UInt8]) -> String { "the host \(SSHPublicKey.fingerprint(ofHost: key))" }
}
