// SPDX-License-Identifier: Apache-2.0

/// A credential that was added to an agent, with its constraints. Adding it again does not loosen them.
struct AddedCredential {
    /// The credential, which may have a certificate.
    private(set) var identity: SSHIdentity
    /// Whether the user must confirm each use.
    private(set) var needsConfirmation: Bool
    /// The destination constraints of each addition that had any: all of them must permit a use.
    private(set) var destinations: Set<[DestinationConstraint]>
    private var end: ContinuousClock.Instant?

    init(_ identity: SSHIdentity, _ constraints: AgentConstraints) {
        self.identity = identity
        needsConfirmation = constraints.needsConfirmation
        destinations = constraints.destinations.isEmpty ? [] : [constraints.destinations]
        end = Self.end(constraints)
    }

    /// Adds the credential again: the new constraints are added to those that it has.
    ///
    /// - Parameter isForwarded: Whether a client on another machine adds it, which may change nothing else: neither the
    ///   key's requirements nor the end of its lifetime.
    mutating func update(_ identity: SSHIdentity, _ constraints: AgentConstraints, isForwarded: Bool) {
        needsConfirmation = needsConfirmation || constraints.needsConfirmation
        if !constraints.destinations.isEmpty { destinations.insert(constraints.destinations) }
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
