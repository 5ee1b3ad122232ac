// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization
import YKCrypto
import YKFIDO
import YKPIV
import YKSSH
import YKTransport
import YKWire

/// Performs an agent's operations on the key. Between requests no connection to the key is open; the agent keeps the
/// PIN, and the list of PIV keys as long as the same key is present.
final class AgentKeeper {
    /// How long the list of keys is cached, in case slots change.
    private static let listLifetime = Duration.seconds(60)
    /// How long a request waits for other programs to let go of the card.
    private static let patience = Duration.seconds(5)

    private let world: World
    private let pins: AgentPINs
    private let fidoPINs: AgentPINs
    private let usesPIV: Bool
    private let prompt = AgentPrompt()
    private var known: (serial: UInt32?, keys: [SSHSlotKey], time: ContinuousClock.Instant)?

    init(_ world: World, _ options: PINOptions, usesPIV: Bool, lifetime: Int?) {
        self.world = world
        self.usesPIV = usesPIV
        // A given PIN is that of PIV, unless the agent leaves PIV alone.
        let (piv, fido) = usesPIV ? (options, PINOptions()) : (PINOptions(), options)
        pins = AgentPINs(world.source(of: .piv, piv), world.terminal, lifetime: lifetime)
        fidoPINs = AgentPINs(world.source(of: .fido, fido), world.terminal, lifetime: lifetime)
    }

    func `do`(_ job: AgentKeys.Job) async {
        switch job {
        case .identities(let continuation): continuation.resume(returning: await slotKeys().map(\.identity))
        case .sign(let request, let continuation): continuation.resume(returning: await signature(request))
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
        return try await closing(service) { try await SSHCredential.all(of: $0).map(\.file) }
    }

    /// Runs work with a service, and closes it before the reply is sent: closing resets the card, which must not affect
    /// the next request.
    private func closing<Service: KeyService, Value>(
        _ service: Service, _ work: (Service) async throws -> Value
    ) async throws -> Value {
        do {
            let value = try await work(service)
            await service.close()
            return value
        } catch {
            await service.close()
            throw error
        }
    }

    /// Repeats work with a card that another program holds, or has reset or powered off in the middle.
    private func amongOthers<Value>(_ work: () async throws -> Value) async throws -> Value {
        let end = ContinuousClock.now + Self.patience
        while true {
            do { return try await work() } catch {
                let code = Explain.explain(error).code
                guard ["busy", "reset", "unresponsive"].contains(code), .now < end else { throw error }
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: PIV

    private func slotKeys() async -> [SSHSlotKey] {
        guard usesPIV else { return [] }
        do {
            return try await amongOthers { try await closing(try await world.openPIV()) { try await slotKeys($0) } }
        } catch {
            known = nil
            return []
        }
    }

    private func slotKeys(_ service: PIVService) async throws -> [SSHSlotKey] {
        let serial = try await service.serial()
        if let known, let serial, known.serial == serial, known.time.duration(to: .now) < Self.listLifetime {
            return known.keys
        }
        let keys = try await SSHSlotKey.all(of: service, serial: serial)
        known = (serial, keys, .now)
        return keys
    }

    // MARK: Signatures

    private func signature(_ request: SSHSignatureRequest) async -> SSHSignature? {
        let reason = request.words
        world.terminal.purpose("\(reason), key \(request.identity.comment.printable)")
        world.terminal.say("\(reason), key \(request.identity.comment.printable)")
        if request.needsConfirmation {
            guard await isAllowed("Allow to \(reason) with key \(request.identity.comment.printable)?") else {
                world.terminal.say("not allowed")
                return nil
            }
        }
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
            known = nil
            return nil
        }
    }

    private func isAllowed(_ question: String) async -> Bool {
        do { return try await prompt.agrees(question) } catch {
            world.terminal.warn(Explain.explain(error).message)
            return false
        }
    }

    private func signWithSlot(_ request: SSHSignatureRequest, _ reason: String) async throws -> SSHSignature? {
        try await closing(try await world.openPIV()) { try await signWithSlot(request, $0, reason) }
    }

    private func signWithSlot(
        _ request: SSHSignatureRequest, _ service: PIVService, _ reason: String
    ) async throws -> SSHSignature? {
        let keys = try await slotKeys(service)
        guard let slot = keys.first(where: { $0.key == request.identity.publicKey }) else { return nil }
        // A cached PIN may have been changed since: it is forgotten, and the user is asked.
        while true {
            do { return try await sign(request, slot, service, reason) } catch let error as PIVError {
                guard case .wrong(.pin, let tries) = error, pins.wasRefused(triesLeft: tries) else { throw error }
            }
        }
    }

    private func sign(
        _ request: SSHSignatureRequest, _ key: SSHSlotKey, _ service: PIVService, _ reason: String
    ) async throws -> SSHSignature {
        let (slot, policy) = (key.slot, key.pinPolicy)
        let isAlways = policy == .always || policy == .matchAlways || policy == nil && slot == .signature
        var unlocking = PIVUnlocking(world, service, PINOptions())
        unlocking.source = { [pins, prompt] service, reason in
            let tries = try await service.tries(of: .pin)
            if tries?.isBlocked == true { throw PIVError.blocked(.pin) }
            let left = tries.map { ", \(Tries.next($0.triesLeft))" } ?? ""
            let pin = try await pins.pin(
                "PIN of the key's PIV, to \(reason)\(left)", prompt, triesLeft: tries?.triesLeft, isKept: !isAlways)
            return try PIVPIN(pin.value.copy())
        }
        let use = try await unlocking.prepare(slot, nil, .sign, for: reason)
        guard use.key.map({ $0 == key.key.key }) ?? true else { throw PIVError.noKey(slot) }
        let bytes = try await use.touching(world) {
            try await service.sign(
                .message(request.data), slot, hash: key.key.hash ?? request.hash, algorithm: use.algorithm, key: use.key
            )
        }
        return try SSHSignature(bytes, by: key.key, hash: request.hash)
    }

    private func sign(
        _ request: SSHSignatureRequest, with credential: SecurityKeyFile, _ reason: String
    ) async throws -> SSHSignature {
        let service = try await world.openFIDO(interaction(for: reason))
        do {
            return try await closing(service) { try await $0.sign(request.data, with: credential) }
        } catch {
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
