// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A key that an agent offers.
public struct SSHIdentity: Hashable, Sendable {
    /// The key.
    public let publicKey: SSHPublicKey
    /// What it is called.
    public let comment: String
    /// For a credential of a FIDO key: how to reach it.
    public let credential: SecurityKeyFile?

    /// A key of another application, such as a PIV slot.
    public init(publicKey: SSHPublicKey, comment: String) {
        self.publicKey = publicKey
        self.comment = comment
        credential = nil
    }

    /// A credential of a FIDO key.
    public init(_ credential: SecurityKeyFile) {
        publicKey = credential.publicKey
        comment = credential.comment
        self.credential = credential
    }
}

/// A signature that is wanted.
public struct SSHSignatureRequest: Hashable, Sendable {
    /// The key.
    public let identity: SSHIdentity
    /// What is signed.
    public let data: [UInt8]
    /// The hash for RSA.
    public let hash: HashAlgorithm
    /// What it is for.
    public let purpose: SignaturePurpose
    /// The host key of the session that asks, when the client told it.
    public let hostKey: [UInt8]?
    /// Whether the client runs on another machine, to which the connection was forwarded.
    public let isForwarded: Bool
    /// Whether the person has to agree before.
    public let needsConfirmation: Bool
}

/// Where an agent's keys are, and what asks the person. Called by one request at a time.
public protocol SSHKeySource: Sendable {
    /// The keys that are there now, besides credentials that clients added.
    func identities() async -> [SSHIdentity]
    /// Signs; `nil` when the key is not there, or the person did not want it.
    func sign(_ request: SSHSignatureRequest) async -> SSHSignature?
}

/// An SSH agent without a socket: messages in, messages out.
///
/// It holds no private key. Usual private keys that a client adds are refused, credentials of FIDO keys are taken, as
/// their files hold nothing secret.
public actor SSHAgent {
    /// Passes a message on to another agent; `nil` when there is none.
    public typealias Upstream = @Sendable ([UInt8]) async -> [UInt8]?

    private struct Added {
        var credential: SecurityKeyFile
        var needsConfirmation: Bool
        var end: ContinuousClock.Instant?
    }

    private let source: any SSHKeySource
    private let upstream: Upstream
    private let allowsForwarding: Bool
    private var added: [Added] = []
    private var lock: SharedSecret?
    private var wrongPassphrases = 0
    /// The last of those who wait for the source, which serves one at a time.
    private var turn: Task<Void, Never>?

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - source: Where its keys are.
    ///   - allowsForwarding: Whether clients on other machines may use it through a forwarded connection.
    ///   - upstream: Asked for keys that are not here.
    public init(
        _ source: any SSHKeySource, allowsForwarding: Bool = true, upstream: @escaping Upstream = { _ in nil }
    ) {
        self.source = source
        self.allowsForwarding = allowsForwarding
        self.upstream = upstream
    }

    /// A connection of one client: what it said of its session counts for its requests.
    public struct Connection: Sendable {
        fileprivate var bindings: [SessionBinding] = []
        fileprivate var isBroken = false

        /// Makes one that said nothing yet.
        public init() {}

        fileprivate var isForwarded: Bool { bindings.contains { $0.isForwarding } }
    }

    /// Answers a message.
    ///
    /// - Parameters:
    ///   - message: Type and content, without the length in front.
    ///   - connection: Where it came from.
    /// - Returns: The answer, likewise.
    public func reply(to message: [UInt8], on connection: inout Connection) async -> [UInt8] {
        guard let request = try? AgentRequest(message) else {
            // A session that cannot be believed does not get signatures afterwards (OpenSSH's agent does the same).
            if message.first == 27 { connection.isBroken = true }
            return AgentReply.failure.bytes
        }
        switch request {
        case .bind(let binding): return bind(binding, &connection).bytes
        case .otherExtension: return AgentReply.extensionFailure.bytes
        case .lock(let passphrase): return set(passphrase).bytes
        case .unlock(let passphrase): return await unlock(passphrase).bytes
        case .identities: return await identities(message)
        case .sign(let blob, let data, let flags): return await sign(blob, data, flags, message, connection)
        case .add, .remove, .removeAll, .other: return await change(request, message)
        }
    }

    /// Offers a credential, as a client may.
    public func offer(_ credential: SecurityKeyFile) { offer(credential, AgentConstraints()) }

    private func offer(_ credential: SecurityKeyFile, _ constraints: AgentConstraints) {
        added.removeAll { $0.credential.publicKey == credential.publicKey }
        let end = constraints.lifetime.map { ContinuousClock.now + .seconds(Int64($0)) }
        added.append(Added(credential: credential, needsConfirmation: constraints.needsConfirmation, end: end))
    }

    private func change(_ request: AgentRequest, _ message: [UInt8]) async -> [UInt8] {
        guard lock == nil else { return AgentReply.failure.bytes }
        switch request {
        case .add(let credential, let constraints):
            offer(credential, constraints)
            return AgentReply.success.bytes
        case .remove(let blob):
            let count = added.count
            added.removeAll { $0.credential.publicKey.blob == blob }
            if added.count < count { return AgentReply.success.bytes }
        case .removeAll: added = []
        default: break
        }
        let reply = await upstream(message)
        if case .removeAll = request { return AgentReply.success.bytes }
        return reply ?? AgentReply.failure.bytes
    }

    private func bind(_ binding: SessionBinding, _ connection: inout Connection) -> AgentReply {
        // After a log-in nothing can be forwarded on, and a chain of forwardings has an end.
        guard !connection.isBroken, connection.bindings.count < 16,
            connection.bindings.allSatisfy({ $0.isForwarding || $0 == binding })
        else {
            connection.isBroken = true
            return .failure
        }
        if !connection.bindings.contains(binding) { connection.bindings.append(binding) }
        return .success
    }

    private func set(_ passphrase: SharedSecret) -> AgentReply {
        guard lock == nil, !passphrase.value.isEmpty else { return .failure }
        lock = passphrase
        return .success
    }

    private func unlock(_ passphrase: SharedSecret) async -> AgentReply {
        guard let lock else { return .failure }
        guard lock.value == passphrase.value else {
            // Guessing gets slower.
            wrongPassphrases = min(wrongPassphrases + 1, 100)
            try? await Task.sleep(for: .milliseconds(100 * wrongPassphrases))
            return .failure
        }
        self.lock = nil
        wrongPassphrases = 0
        return .success
    }

    private func identities(_ message: [UInt8]) async -> [UInt8] {
        guard lock == nil else { return AgentReply.identities([]).bytes }
        let own = await all().map { (blob: $0.publicKey.blob, comment: Array($0.comment.utf8)) }
        let blobs = Set(own.map(\.blob))
        let other = await upstream(message).flatMap(AgentReply.foreignIdentities) ?? []
        return AgentReply.identities(own + other.filter { !blobs.contains($0.blob) }).bytes
    }

    /// The keys that are there and those that were added, each once.
    private func all() async -> [SSHIdentity] {
        let there = await inTurn { await $0.identities() }
        added.removeAll { $0.end.map { $0 <= .now } ?? false }
        let blobs = Set(there.map(\.publicKey.blob))
        return there + added.map { SSHIdentity($0.credential) }.filter { !blobs.contains($0.publicKey.blob) }
    }

    private func sign(
        _ blob: [UInt8], _ data: [UInt8], _ flags: UInt32, _ message: [UInt8], _ connection: Connection
    ) async -> [UInt8] {
        guard lock == nil, !connection.isBroken else { return AgentReply.failure.bytes }
        guard let identity = await all().first(where: { $0.publicKey.blob == blob }) else {
            return await upstream(message) ?? AgentReply.failure.bytes
        }
        let purpose = SignaturePurpose(data)
        guard allowsForwarding || !connection.isForwarded else { return AgentReply.failure.bytes }
        // Who said which session it is gets a log-in signed for that session alone.
        if case .login(_, let session, _) = purpose, let last = connection.bindings.last, last.session != session {
            return AgentReply.failure.bytes
        }
        let request = SSHSignatureRequest(
            identity: identity, data: data, hash: flags & 4 != 0 ? .sha512 : .sha256, purpose: purpose,
            hostKey: connection.bindings.last?.hostKey, isForwarded: connection.isForwarded,
            needsConfirmation: added.contains {
                $0.credential.publicKey == identity.publicKey && $0.needsConfirmation
            })
        let signature = await inTurn { await $0.sign(request) }
        return (signature.map(AgentReply.signature) ?? .failure).bytes
    }

    /// Has the source do something, when those who came before are done.
    private func inTurn<Value: Sendable>(_ body: @escaping @Sendable (any SSHKeySource) async -> Value) async -> Value {
        let before = turn
        let task = Task { [source] in
            await before?.value
            return await body(source)
        }
        turn = Task { _ = await task.value }
        return await task.value
    }
}
