// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
import YKCrypto
import YKFIDO
import YKKeyAgent
import YKPIV
import YKSSH
import YKTransport
import YKWire

/// Performs an agent's operations on the key. The card stays open for a moment after a request (``AgentCard``); the agent
/// keeps the PIN, and the list of PIV keys as long as the same key is present.
final class AgentKeeper {
    /// How long a request waits for other programs to let go of the card.
    private static let patience = Duration.seconds(5)

    let world: World
    let usesPIV: Bool
    let card: AgentCard
    private let pins: AgentPINs
    private let fidoPINs: AgentPINs
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
        pins = AgentPINs(world.source(of: .piv, piv), world.terminal, lifetime: lifetime)
        fidoPINs = AgentPINs(world.source(of: .fido, fido), world.terminal, lifetime: lifetime)
        card = AgentCard(world, lifetime: lifetime) { number, end in
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
        try pins.readGiven()
        try fidoPINs.readGiven()
    }

    /// Returns the SSH credentials stored on the key.
    func resident() async throws -> [SecurityKeyFile] {
        let service = try await world.openFIDO(interaction(for: "read its credentials for SSH"))
        do {
            let files = try await SSHCredential.all(of: service).map(\.file)
            await service.close()
            return files
        } catch {
            await service.close()
            throw error
        }
    }

    /// Repeats work with a card that another program holds, or has reset or powered off in the middle.
    func amongOthers<Value>(_ work: () async throws -> Value) async throws -> Value {
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
        let keys = try? await amongOthers {
            try await card.use { session in
                SSHSlotKey.all(try await card.keys(&session), serial: session.serial).map(\.identity)
            }
        }
        return (keys ?? []).flatMap { key in [key] + certificates.compactMap(key.with) }
    }

    /// Uses a key in a slot, once the PIN that it requires is verified.
    func using<Value>(
        _ key: PIVSlotKey, _ operation: PIVOperation, _ reason: String, in session: inout AgentCard.Session,
        _ body: (KeyUse) async throws -> Value
    ) async throws -> Value {
        let policy = key.policies?.pin
        let isAlways =
            policy == .always || policy == .matchAlways || policy == nil && key.slot == .signature
        if isAlways { session.unlocking = session.unlocking.beforePIN() }
        session.unlocking.source = { [pins, prompt] service, reason in
            let tries = try await service.tries(of: .pin)
            if tries?.isBlocked == true { throw PIVError.blocked(.pin) }
            let left = tries.map { ", \(Tries.next($0.triesLeft))" } ?? ""
            // Other programs do not wait for somebody who enters a PIN.
            if try pins.asks(triesLeft: tries?.triesLeft, isKept: !isAlways) { await service.rest() }
            let pin = try await pins.pin(
                "PIN of the key's PIV, to \(reason)\(left)", prompt, triesLeft: tries?.triesLeft, isKept: !isAlways)
            return try PIVPIN(pin.value.copy())
        }
        // A cached PIN may have been changed since: it is forgotten, and the user is asked.
        while true {
            do {
                let use = try await session.unlocking.prepare(
                    key.slot, PIVAlgorithm(key.publicKey), operation, for: reason)
                guard use.key.map({ $0 == key.publicKey }) ?? true else { throw PIVError.noKey(key.slot) }
                let value = try await use.touching(world) { try await body(use) }
                if isAlways { session.unlocking = session.unlocking.beforePIN() }
                return value
            } catch let error as PIVError {
                guard case .wrong(.pin, let tries) = error, pins.wasRefused(triesLeft: tries) else { throw error }
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
            return try await amongOthers {
                if let credential = request.identity.credential {
                    return try await sign(request, with: credential, reason)
                }
                return try await signWithSlot(request, reason)
            }
        } catch {
            let why = Explain.explain(error)
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
        } catch { world.terminal.warn(Explain.explain(error).message) }
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
        let service = try await world.openFIDO(interaction(for: reason))
        do {
            let signature = try await service.sign(request.data, with: credential)
            await service.close()
            return signature
        } catch {
            await service.close()
            if case .wrongPIN? = error as? FIDOError { _ = fidoPINs.wasRefused(triesLeft: nil) }
            throw error
        }
    }

    private func interaction(for reason: String) -> FIDOInteraction {
        FIDOInteraction(pin: { [fidoPINs, prompt, terminal = world.terminal] request in
            let left = request.retries.map { ", \(Tries.next($0.count))" } ?? ""
            do {
                return try await fidoPINs.pin(
                    "PIN of the key's FIDO2, to \(reason)\(left)", prompt, triesLeft: request.retries?.count,
                    isKept: false)
            } catch {
                terminal.warn(Explain.explain(error).message)
                return nil
            }
        })
    }
}

extension SSHSignatureRequest {
    /// A short description of the operation.
    var words: String {
        let host = hostKey.map { " at the host \(SSHPublicKey.fingerprint(of: $0))" } ?? ""
        let from = isForwarded ? ", asked for from another machine" : ""
        switch purpose {
        case .login(let user, _, let key):
            let place = key.map { " at the host \(SSHPublicKey.fingerprint(of: $0))" } ?? host
            return "log in as '\(user.printable)'\(place)\(from)"
        case .file(let namespace): return "sign a file for '\(namespace.printable)'\(from)"
        case .other(let bytes): return "sign \(bytes) bytes of an unknown kind\(from)"
        }
    }
}
