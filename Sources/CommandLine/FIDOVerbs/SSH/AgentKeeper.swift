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
    /// How long a request waits for other programs to release the card.
    private static let patience = Duration.seconds(5)

    let world: World
    let usesPIV: Bool
    let card: AgentCard
    private let given: [CommandLineCredential]
    private let credentials: CredentialBroker
    private let prompt = AgentPrompt()
    /// The certificates of PIV keys.
    private let certificates: [SSHCertificate]

    init(
        _ world: World, _ options: PINOptions, _ keys: AgentKeys, usesPIV: Bool, lifetime: Int?,
        certificates: [SSHCertificate] = []
    ) {
        self.world = world
        self.usesPIV = usesPIV
        self.certificates = certificates
        // A given PIN is that of PIV, unless the agent leaves PIV alone.
        let (piv, fido) = usesPIV ? (options, PINOptions()) : (PINOptions(), options)
        given = [
            world.given(.pivPIN, world.source(of: .piv, piv), isGivenNow: false),
            world.given(.fidoPIN, world.source(of: .fido, fido), isGivenNow: false),
        ]
        credentials = CredentialBroker(
            given, person: AgentPerson(prompt: prompt), lifetime: lifetime.map { .seconds($0) })
        card = AgentCard(world, credentials, lifetime: lifetime) { number, end in
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

    /// Reads the PINs that are given, while the standard input is there.
    func readPINs() throws {
        for pin in given { try pin.read() }
    }

    /// Returns the SSH credentials stored on the key.
    func resident() async throws -> [SecurityKeyFile] {
        try await withFIDO(for: "read its credentials for SSH") { try await SSHCredential.all(of: $0).map(\.file) }
    }

    /// Repeats work with a card that another program holds, or has reset or powered off during the operation.
    func retryingWhileBusy<Value>(_ work: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + Self.patience
        while true {
            do { return try await work() } catch {
                guard LinkError(causing: error)?.isTransient == true, .now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: PIV

    private func identities() async -> [SSHIdentity] {
        guard usesPIV else { return [] }
        let keys = try? await retryingWhileBusy {
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
        // A held PIN may have been changed since: it is forgotten, and the user is asked.
        while true {
            do {
                let use = try await session.access.prepare(
                    key.slot, PIVAlgorithm(key.publicKey), operation, for: reason)
                guard use.key.map({ $0 == key.publicKey }) ?? true else { throw PIVError.noKey(key.slot) }
                return try await use.touching(world.person) { try await body(use) }
            } catch let error as PIVError {
                guard case .wrong(.pin, let tries) = error, tries > 1 else { throw error }
            }
        }
    }

    // MARK: Signatures

    private func signature(_ request: SSHSignatureRequest) async -> SSHSignature? {
        let reason = request.words
        world.terminal.purpose("\(reason), key \(request.identity.comment.printable)")
        world.terminal.say("\(reason), key \(request.identity.comment.printable)")
        guard await isAllowed(reason, request.identity.comment, asking: request.needsConfirmation) else { return nil }
        do {
            return try await retryingWhileBusy {
                if let credential = request.identity.credential {
                    return try await sign(request, with: credential, reason)
                }
                return try await signWithSlot(request, reason)
            }
        } catch {
            let why = Explanation(error)
            world.terminal.warn(why.message)
            return nil
        }
    }

    /// Whether a key may be used, if its user has to be asked. Other programs do not wait for the answer.
    func isAllowed(_ reason: String, _ key: String, asking: Bool) async -> Bool {
        guard asking else { return true }
        await card.end()
        do {
            if try await prompt.agrees("Allow to \(reason) with key \(key.printable)?") { return true }
            world.terminal.say("not allowed")
        } catch { world.terminal.warn(Explanation(error).message) }
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
            credentials, CredentialID(.fidoPIN, key: nil), to: reason, isForOnce: true, world.person)
        let service = try await world.openFIDO(pin.interaction)
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

/// The person whom an agent asks for PINs.
private struct AgentPerson: CredentialPrompt {
    let prompt: AgentPrompt
    let isThere = true

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        let left = request.triesLeft.map { ", \(Tries.next($0))" } ?? ""
        let application = request.id.kind == .fidoPIN ? "FIDO2" : "PIV"
        return try await prompt.pin("PIN of the key's \(application), to \(request.purpose)\(left)")
    }
}

extension SSHSignatureRequest {
    /// A short description of the operation.
    var words: String {
        let host = hostKey.map { " at the host \(SSHPublicKey.fingerprint(of: $0))" } ?? ""
        let from = isForwarded ? ", requested from another machine" : ""
        switch purpose {
        case .login(let user, _, let key):
            let place = key.map { " at the host \(SSHPublicKey.fingerprint(of: $0))" } ?? host
            return "log in as '\(user.printable)'\(place)\(from)"
        case .file(let namespace): return "sign a file for '\(namespace.printable)'\(from)"
        case .other(let bytes): return "sign \(bytes) bytes of an unknown kind\(from)"
        }
    }
}
