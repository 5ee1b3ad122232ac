// SPDX-License-Identifier: Apache-2.0

/// A credential that was added to an agent, with its constraints. Adding it again does not loosen them.
struct AddedCredential {
    /// The credential, which may have a certificate.
    private(set) var identity: SSHIdentity
    /// Whether the user must confirm each use.
    private(set) var needsConfirmation: Bool
    /// The destination constraints of each addition that had any: all of them must permit a use.
    private(set) var destinations: Set<[DestinationConstraint]>
    /// Whether a client on another machine added it.
    let isForwarded: Bool
    /// The size of the destination constraints in bytes, and how much of it was sent by clients on other machines.
    private var constraintBytes: (all: Int, forwarded: Int)
    private var end: ContinuousClock.Instant?

    init(_ identity: SSHIdentity, _ constraints: AgentConstraints, isForwarded: Bool) {
        self.identity = identity
        self.isForwarded = isForwarded
        needsConfirmation = constraints.needsConfirmation
        destinations = constraints.destinations.isEmpty ? [] : [constraints.destinations]
        constraintBytes = (constraints.bytes, isForwarded ? constraints.bytes : 0)
        end = Self.end(constraints)
    }

    /// Its size in bytes, and how much of it was sent by clients on other machines.
    var bytes: (all: Int, forwarded: Int) {
        let own = identity.blob.count + identity.comment.utf8.count + (identity.credential?.handle.count ?? 0)
        return (own + constraintBytes.all, (isForwarded ? own : 0) + constraintBytes.forwarded)
    }

    /// Adds the credential again: the new constraints are added to those that it has.
    ///
    /// - Parameter isForwarded: Whether a client on another machine adds it, which may change nothing else: neither the
    ///   key's requirements nor the end of its lifetime.
    mutating func update(_ identity: SSHIdentity, _ constraints: AgentConstraints, isForwarded: Bool) {
        needsConfirmation = needsConfirmation || constraints.needsConfirmation
        if !constraints.destinations.isEmpty, destinations.insert(constraints.destinations).inserted {
            constraintBytes.all += constraints.bytes
            if isForwarded { constraintBytes.forwarded += constraints.bytes }
        }
        let end = Self.end(constraints)
        if isForwarded {
            self.end = [self.end, end].compactMap(\.self).min()
        } else {
            self.identity = identity
            self.end = end ?? self.end
        }
    }

    private static func end(_ constraints: AgentConstraints) -> ContinuousClock.Instant? {
        constraints.lifetime.map { .now + .seconds(Int64($0)) }
    }

    /// Whether its lifetime has ended.
    var hasExpired: Bool { end.map { $0 <= .now } ?? false }

    /// Whether it has a constraint.
    var isConstrained: Bool { needsConfirmation || !destinations.isEmpty || end != nil }

    /// Whether a connection with these sessions may see it.
    func permits(_ bindings: [SessionBinding]) -> Bool {
        destinations.allSatisfy { $0.permit(bindings, user: nil) }
    }

    /// Whether a connection with these sessions gets a signature for this purpose.
    func permits(_ bindings: [SessionBinding], _ purpose: SignaturePurpose) -> Bool {
        destinations.allSatisfy { $0.permit(bindings, purpose) }
    }
}

/// The credentials that clients added to an agent. Their number and size are limited, and those of clients on other
/// machines have limits of their own, so that such a client can neither fill the agent nor make its list too long to be read.
struct AddedCredentials {
    private static let (countLimit, byteLimit) = (256, 1 << 20)
    private static let (forwardedCountLimit, forwardedByteLimit) = (32, 64 << 10)

    private var all: [AddedCredential] = []

    /// Adds a credential without limits.
    mutating func offer(_ identity: SSHIdentity) { put(identity, AgentConstraints(), isForwarded: false) }

    /// Adds a credential that the connection may see; returns whether that is allowed. A forwarded connection may not
    /// add a constrained one in another form (with or without a certificate), which would have no constraints.
    mutating func add(
        _ identity: SSHIdentity, _ constraints: AgentConstraints, for connection: SSHAgent.Connection
    ) -> Bool {
        removeExpired()
        let isAllowed = self.constraints(on: identity.publicKey).allSatisfy { known in
            let isLoosened = connection.isForwarded && known.isConstrained && known.identity.blob != identity.blob
            return Self.isShown(known, connection) && !isLoosened
        }
        guard isAllowed else { return false }
        var changed = self
        changed.put(identity, constraints, isForwarded: connection.isForwarded)
        guard changed.isWithinLimits else { return false }
        self = changed
        return true
    }

    private mutating func put(_ identity: SSHIdentity, _ constraints: AgentConstraints, isForwarded: Bool) {
        guard let index = all.firstIndex(where: { $0.identity.blob == identity.blob }) else {
            all.append(AddedCredential(identity, constraints, isForwarded: isForwarded))
            return
        }
        all[index].update(identity, constraints, isForwarded: isForwarded)
    }

    private var isWithinLimits: Bool {
        let forwarded = all.count(where: \.isForwarded)
        let bytes = all.reduce((all: 0, forwarded: 0)) { ($0.all + $1.bytes.all, $0.forwarded + $1.bytes.forwarded) }
        return all.count <= Self.countLimit && forwarded <= Self.forwardedCountLimit
            && bytes.all <= Self.byteLimit && bytes.forwarded <= Self.forwardedByteLimit
    }

    /// What became of a request to remove a credential.
    enum Removal { case removed, refused, unknown }

    /// Removes a credential. A forwarded connection could add a constrained one again without its constraints, since
    /// a credential's file holds no secret, so it may not remove it.
    mutating func remove(_ blob: [UInt8], for connection: SSHAgent.Connection) -> Removal {
        removeExpired()
        let count = all.count
        all.removeAll { $0.identity.blob == blob && Self.mayRemove($0, connection) }
        if all.count < count { return .removed }
        return all.contains { $0.identity.blob == blob } ? .refused : .unknown
    }

    /// Removes the credentials that the connection may remove.
    mutating func removeAll(for connection: SSHAgent.Connection) {
        all.removeAll { $0.hasExpired || Self.mayRemove($0, connection) }
    }

    /// Returns the credentials that a connection may see.
    mutating func shown(to connection: SSHAgent.Connection) -> [SSHIdentity] {
        removeExpired()
        return all.filter { Self.isShown($0, connection) }.map(\.identity)
    }

    /// Returns the forms of a key. One that is also offered with a certificate is the same key: its constraints apply to
    /// both.
    func constraints(on key: SSHPublicKey) -> [AddedCredential] { all.filter { $0.identity.publicKey == key } }

    private mutating func removeExpired() { all.removeAll { $0.hasExpired } }

    private static func isShown(_ key: AddedCredential, _ connection: SSHAgent.Connection) -> Bool {
        key.destinations.isEmpty || !connection.isBroken && key.permits(connection.bindings)
    }

    private static func mayRemove(_ key: AddedCredential, _ connection: SSHAgent.Connection) -> Bool {
        isShown(key, connection) && !(connection.isForwarded && key.isConstrained)
    }
}
