// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

/// A key that an agent offers.
public struct SSHIdentity: Hashable, Sendable {
    /// The key.
    public let publicKey: SSHPublicKey
    /// Its comment.
    public let comment: String
    /// The file of a FIDO key's credential, if it is one.
    public let credential: SecurityKeyFile?
    /// The certificate of the key, if it is offered with one.
    public let certificate: SSHCertificate?

    /// Creates an identity for a key of another application, such as a PIV slot.
    public init(publicKey: SSHPublicKey, comment: String) {
        self.publicKey = publicKey
        self.comment = comment
        credential = nil
        certificate = nil
    }

    /// Creates an identity for a credential of a FIDO key.
    public init(_ credential: SecurityKeyFile) {
        publicKey = credential.publicKey
        comment = credential.comment
        self.credential = credential
        certificate = nil
    }

    private init(_ identity: SSHIdentity, _ certificate: SSHCertificate) {
        publicKey = identity.publicKey
        comment = identity.comment
        credential = identity.credential
        self.certificate = certificate
    }

    /// Returns the same identity with a certificate; `nil` if that is for another key.
    public func with(_ certificate: SSHCertificate) -> SSHIdentity? {
        certificate.publicKey == publicKey ? SSHIdentity(self, certificate) : nil
    }

    /// The key or its certificate in wire format, by which clients name the identity.
    public var blob: [UInt8] { certificate?.blob ?? publicKey.blob }
}

/// A request for a signature.
public struct SSHSignatureRequest: Hashable, Sendable {
    /// The key.
    public let identity: SSHIdentity
    /// The data to sign.
    public let data: [UInt8]
    /// The hash for RSA.
    public let hash: HashAlgorithm
    /// Its purpose.
    public let purpose: SignaturePurpose
    /// The host key of the requesting session, if the client sent it.
    public let hostKey: [UInt8]?
    /// The host keys of the machines through which the agent was forwarded, the nearest one first; the client runs on the
    /// last. Empty for a client on this machine.
    public let hops: [[UInt8]]
    /// Whether the user must confirm first.
    public let needsConfirmation: Bool

    /// Whether the client runs on another machine, over a forwarded connection.
    public var isForwarded: Bool { !hops.isEmpty }
}

/// The source of an agent's keys, which also asks the user. It signs and answers one request at a time; if the client of
/// the request hangs up, the task is cancelled.
public protocol SSHKeySource: Sendable {
    /// Returns the keys that are currently available, besides credentials that clients added. It is also called while
    /// the source signs for another client.
    func identities() async -> [SSHIdentity]
    /// Signs; `nil` if the key is not available, or the user refused.
    func sign(_ request: SSHSignatureRequest) async -> SSHSignature?
    /// Reports a signature that the agent refused without asking, for a log. Does nothing unless implemented.
    func refused(_ refusal: SSHAgentRefusal)
    /// The names of the protocol extensions that it answers. None unless implemented.
    var extensions: Set<String> { get }
    /// Answers a request of such an extension; `nil` if that fails.
    func answer(_ request: SSHExtensionRequest) async -> [UInt8]?
}

/// A request of an extension of the agent protocol (draft-ietf-sshm-ssh-agent §3.8) that uses a key.
public struct SSHExtensionRequest: Hashable, Sendable {
    /// The name of the extension.
    public let name: String
    /// What follows the name.
    public let content: [UInt8]
    /// The host key of the requesting session, if the client sent it.
    public let hostKey: [UInt8]?
    /// The host keys of the machines through which the agent was forwarded, the nearest one first; the client runs on the
    /// last. Empty for a client on this machine.
    public let hops: [[UInt8]]
    /// Whether the user must confirm first.
    public let needsConfirmation: Bool

    /// Whether the client runs on another machine, over a forwarded connection.
    public var isForwarded: Bool { !hops.isEmpty }
}

extension SSHKeySource {
    /// No extensions.
    public var extensions: Set<String> { [] }
    /// Fails.
    public func answer(_ request: SSHExtensionRequest) async -> [UInt8]? { nil }
    /// Does nothing.
    public func refused(_ refusal: SSHAgentRefusal) {}
}

/// An SSH agent without a socket: it takes and returns messages.
///
/// It holds no private key. Ordinary private keys that a client adds are refused; credentials of FIDO keys are
/// accepted, because their files contain nothing secret.
public actor SSHAgent {
    /// Forwards a message to another agent; `nil` if there is none, or it did not answer.
    public typealias Upstream = @Sendable ([UInt8]) async -> [UInt8]?

    private let source: any SSHKeySource
    private let allowsForwarding: Bool
    private let confirmsAll: Bool
    private let websafe: [UInt8]
    private var added = AddedCredentials()
    private var lock: SharedSecret?
    private var wrongPassphrases = 0
    /// The last task in the queue of passphrases, which are compared one at a time.
    private var guess: Task<Void, Never>?
    /// The last task in the queue for the source, which serves one at a time.
    private var turn: Task<Void, Never>?

    /// Creates an agent.
    ///
    /// - Parameters:
    ///   - source: The source of its keys.
    ///   - allowsForwarding: Whether clients on other machines may use it through a forwarded connection.
    ///   - confirmsAll: Whether the user must confirm each use of each key.
    ///   - websafe: The applications of FIDO credentials that sign anything, as comma-separated patterns
    ///     (ssh_config(5), PATTERNS). Those of others sign only SSH data (`websafe-allow`, ssh-agent(1)).
    public init(
        _ source: any SSHKeySource, allowsForwarding: Bool = true, confirmsAll: Bool = false, websafe: String = "ssh:*"
    ) {
        self.source = source
        self.allowsForwarding = allowsForwarding
        self.confirmsAll = confirmsAll
        self.websafe = Array(websafe.utf8)
    }

    /// A client's connection; its session bindings apply to its requests.
    public struct Connection: Sendable {
        var bindings: [SessionBinding] = []
        var isBroken = false
        fileprivate let upstream: Upstream

        /// Creates a connection without session bindings.
        ///
        /// - Parameter upstream: Forwards messages to another agent, for keys that this one does not have, over a
        ///   connection that serves this client only: it gets the client's session bindings, too.
        public init(upstream: @escaping Upstream = { _ in nil }) { self.upstream = upstream }

        fileprivate var hops: [[UInt8]] { bindings.filter(\.isForwarding).map(\.hostKey) }
        var isForwarded: Bool { !hops.isEmpty }
    }

    /// Answers a message.
    ///
    /// - Parameters:
    ///   - message: The type and content, without the length prefix.
    ///   - connection: The client's connection.
    /// - Returns: The reply, also without the length prefix.
    public func reply(to message: [UInt8], on connection: inout Connection) async -> [UInt8] {
        guard let request = try? AgentRequest(message) else {
            guard message.first == AgentRequest.extensionType else { return AgentReply.failure.bytes }
            // A connection with an invalid session binding gets no signatures afterwards (as in OpenSSH's agent).
            connection.isBroken = true
            return AgentReply.extensionFailure.bytes
        }
        switch request {
        case .bind(let binding):
            let reply = bind(binding, &connection)
            // The other agent may not support bindings: whether it accepts this one makes no difference here.
            if case .success = reply { _ = await connection.upstream(message) }
            return reply.bytes
        case .otherExtension(let name, let content): return await answer(name, content, connection).bytes
        case .lock(let passphrase): return set(passphrase).bytes
        case .unlock(let passphrase): return await unlock(passphrase).bytes
        case .identities: return await identities(message, connection)
        case .sign(let blob, let data, let flags): return await sign(blob, data, flags, message, connection)
        case .add, .remove, .removeAll, .other: return await change(request, message, connection)
        }
    }

    /// Adds a credential, as a client's request would.
    public func offer(_ credential: SecurityKeyFile) { offer(SSHIdentity(credential)) }

    /// Adds a credential, which may have a certificate, as a client's request would, but without limits.
    public func offer(_ identity: SSHIdentity) { added.offer(identity) }

    private func change(
        _ request: AgentRequest, _ message: [UInt8], _ connection: Connection
    ) async -> [UInt8] {
        guard lock == nil else { return AgentReply.failure.bytes }
        switch request {
        case .add(let identity, let constraints):
            return (added.add(identity, constraints, for: connection) ? AgentReply.success : .failure).bytes
        case .remove(let blob):
            switch added.remove(blob, for: connection) {
            case .removed: return AgentReply.success.bytes
            case .refused: return AgentReply.failure.bytes
            case .unknown: break
            }
        case .removeAll: added.removeAll(for: connection)
        default: break
        }
        // Another agent may have no such rule: it loads libraries for programs of this machine only (CVE-2023-38408).
        guard !AgentRequest.providerTypes.contains(message[0]) || connection.bindings.isEmpty else {
            return AgentReply.failure.bytes
        }
        let reply = await upstream(message, connection)
        if case .removeAll = request { return AgentReply.success.bytes }
        return reply ?? AgentReply.failure.bytes
    }

    private func upstream(_ message: [UInt8], _ connection: Connection) async -> [UInt8]? {
        connection.isBroken ? nil : await connection.upstream(message)
    }

    /// Binds a connection to a session by the rules of OpenSSH's agent: nothing follows the session of a login, a session
    /// has one host key, and the chain of forwardings is limited. A connection that breaks them gets no signatures
    /// afterwards, unless it only repeats the last binding.
    private func bind(_ binding: SessionBinding, _ connection: inout Connection) -> AgentReply {
        let bindings = connection.bindings
        let isKnown = bindings.contains { $0.session == binding.session && $0.hostKey == binding.hostKey }
        let isOfAnotherHost = bindings.contains { $0.session == binding.session && $0.hostKey != binding.hostKey }
        guard !connection.isBroken, bindings.allSatisfy(\.isForwarding), !isOfAnotherHost,
            isKnown || bindings.count < 16
        else {
            if bindings.last != binding { connection.isBroken = true }
            return .extensionFailure
        }
        if !isKnown { connection.bindings.append(binding) }
        return .success
    }

    private func set(_ passphrase: SharedSecret) -> AgentReply {
        guard lock == nil, !passphrase.value.isEmpty else { return .failure }
        lock = passphrase
        return .success
    }

    private func unlock(_ passphrase: SharedSecret) async -> AgentReply {
        let before = guess
        let task = Task {
            await before?.value
            return await compare(passphrase)
        }
        guess = Task { _ = await task.value }
        return await task.value
    }

    private func compare(_ passphrase: SharedSecret) async -> AgentReply {
        guard let lock else { return .failure }
        guard lock.value == passphrase.value else {
            // Slows down guessing, as the next one waits for this.
            wrongPassphrases = min(wrongPassphrases + 1, 100)
            try? await Task.sleep(for: .milliseconds(100 * wrongPassphrases))
            return .failure
        }
        self.lock = nil
        wrongPassphrases = 0
        return .success
    }

    private func identities(_ message: [UInt8], _ connection: Connection) async -> [UInt8] {
        guard lock == nil else { return AgentReply.identities([]).bytes }
        let own = await all(for: connection).map { (blob: $0.blob, comment: Array($0.comment.utf8)) }
        let blobs = Set(own.map(\.blob))
        let other = await upstream(message, connection).flatMap(AgentReply.foreignIdentities) ?? []
        return AgentReply.identities(own + other.filter { !blobs.contains($0.blob) }).bytes
    }

    /// The available keys and the added ones that the connection may see, without duplicates.
    private func all(for connection: Connection) async -> [SSHIdentity] {
        let there = await source.identities()
        let blobs = Set(there.map(\.blob))
        return there + added.shown(to: connection).filter { !blobs.contains($0.blob) }
    }

    private func sign(
        _ blob: [UInt8], _ data: [UInt8], _ flags: UInt32, _ message: [UInt8], _ connection: Connection
    ) async -> [UInt8] {
        guard lock == nil, !connection.isBroken else { return AgentReply.failure.bytes }
        let purpose = SignaturePurpose(data, by: blob)
        if let refusal = refusal(of: blob, purpose, connection) {
            source.refused(refusal)
            return AgentReply.failure.bytes
        }
        guard let identity = await all(for: connection).first(where: { $0.blob == blob }) else {
            return await upstream(message, connection) ?? AgentReply.failure.bytes
        }
        let constraints = added.constraints(on: identity.publicKey)
        guard constraints.allSatisfy({ $0.permits(connection.bindings, purpose) }) else {
            source.refused(.destination)
            return AgentReply.failure.bytes
        }
        let request = SSHSignatureRequest(
            identity: identity, data: data, hash: flags & 4 != 0 ? .sha512 : .sha256, purpose: purpose,
            hostKey: connection.bindings.last?.hostKey, hops: connection.hops,
            needsConfirmation: confirmsAll || constraints.contains { $0.needsConfirmation })
        let signature = await inTurn { await $0.sign(request) }
        return (signature.map(AgentReply.signature) ?? .failure).bytes
    }

    /// Answers a request of an extension under the rules of signatures.
    private func answer(_ name: String, _ content: [UInt8], _ connection: Connection) async -> AgentReply {
        guard source.extensions.contains(name) else { return .failure }
        guard lock == nil, !connection.isBroken else { return .extensionFailure }
        if connection.isForwarded, !allowsForwarding {
            source.refused(.forwarded)
            return .extensionFailure
        }
        let request = SSHExtensionRequest(
            name: name, content: content, hostKey: connection.bindings.last?.hostKey, hops: connection.hops,
            needsConfirmation: confirmsAll)
        return await inTurn { await $0.answer(request) }.map { .extensionResponse(name, $0) } ?? .extensionFailure
    }

    /// Why a connection gets no signature for this purpose, whichever agent has the key; `nil` if it may.
    private func refusal(
        of blob: [UInt8], _ purpose: SignaturePurpose, _ connection: Connection
    ) -> SSHAgentRefusal? {
        if connection.isForwarded, !allowsForwarding { return .forwarded }
        // A connection bound to a session gets login signatures for that session only.
        if case .login(_, let session, _) = purpose, let last = connection.bindings.last, last.session != session {
            return .otherSession
        }
        // A website's credential signs in to that website. OpenSSH's agent also lets it sign only SSH data, but does so
        // for forwarded clients too (check_websafe_message_contents).
        guard let application = SSHPublicKey.application(of: blob), !SSHPattern.fits(application, anyOf: websafe) else {
            return nil
        }
        return purpose.isOfSSH && !connection.isForwarded ? nil : .website
    }

    /// Calls the source after all earlier calls have finished; the call is cancelled with this task.
    private func inTurn<Value: Sendable>(_ body: @escaping @Sendable (any SSHKeySource) async -> Value) async -> Value {
        let before = turn
        let task = Task { [source] in
            await before?.value
            return await body(source)
        }
        turn = Task { _ = await task.value }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
