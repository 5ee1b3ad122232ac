// SPDX-License-Identifier: Apache-2.0

/// A step that an added key may be used for: from this machine or a host to a host
/// (`restrict-destination-v00@openssh.com`, OpenSSH's PROTOCOL.agent).
struct DestinationConstraint: Hashable, Sendable {
    /// A host by its host keys.
    struct Host: Hashable, Sendable {
        /// A pattern for the user's name there; empty for any user.
        var user: String
        /// The blobs of its host keys. Those of certificate authorities are omitted, so they permit nothing.
        var keys: Set<[UInt8]>
        /// Whether it is this machine, which has no name and no keys.
        var isLocal: Bool

        init(_ reader: inout SSHReader) throws(SSHError) {
            var reader = SSHReader(try reader.string("the host of a constraint"))
            user = try reader.text("the user")
            let name = try reader.text("the name of the host")
            _ = try reader.string("the reserved string")
            keys = []
            isLocal = name.isEmpty && reader.isAtEnd
            while !reader.isAtEnd {
                let blob = try reader.string("the host key")
                if try !reader.bool("whether it is an authority") { keys.insert(blob) }
            }
        }
    }

    var from: Host
    var to: Host

    /// Reads the constraints of an extension.
    static func all(_ reader: inout SSHReader) throws(SSHError) -> [DestinationConstraint] {
        var reader = SSHReader(try reader.string("the constraints"))
        var constraints: [DestinationConstraint] = []
        while !reader.isAtEnd {
            var one = SSHReader(try reader.string("a constraint"))
            let constraint = DestinationConstraint(from: try Host(&one), to: try Host(&one))
            _ = try one.string("the reserved string")
            try one.finish("the constraint")
            guard constraint.from.user.isEmpty, !constraint.to.isLocal, constraints.count < 1024 else {
                throw .malformed("a host constraint that restricts nothing that can be checked")
            }
            constraints.append(constraint)
        }
        guard !constraints.isEmpty else { throw .malformed("no host constraints") }
        return constraints
    }

    func permits(from: [UInt8]?, to: [UInt8]?, user: String?) -> Bool {
        guard from.map({ self.from.keys.contains($0) }) ?? self.from.isLocal else { return false }
        guard let to else { return true }
        guard self.to.keys.contains(to) else { return false }
        return user.map { self.to.user.isEmpty || SSHPattern.fits($0, self.to.user) } ?? true
    }
}

extension [DestinationConstraint] {
    /// Returns whether a connection may see a key with these constraints, or use it to sign a user's login.
    ///
    /// - Parameters:
    ///   - bindings: The sessions of the connection, the nearest one first.
    ///   - user: The user to log in as; `nil` if nothing is signed.
    func permit(_ bindings: [SessionBinding], user: String?) -> Bool {
        guard !isEmpty, let last = bindings.last else { return true }
        var from: [UInt8]?
        for (index, binding) in bindings.enumerated() {
            let isLast = index + 1 == bindings.count
            guard isLast ? !(binding.isForwarding && user != nil) : binding.isForwarding,
                contains(where: { $0.permits(from: from, to: binding.hostKey, user: isLast ? user : nil) })
            else { return false }
            from = binding.hostKey
        }
        // A key that cannot be used from the host to which the agent was forwarded is not shown there.
        return !last.isForwarding || contains { $0.permits(from: last.hostKey, to: nil, user: nil) }
    }

    /// Returns whether a key with these constraints may sign for a connection: only the login of its last session. If the
    /// agent was forwarded, the login must name the host key: the binding of that session comes from the machine in
    /// between, which can have any host sign any session.
    func permit(_ bindings: [SessionBinding], _ purpose: SignaturePurpose) -> Bool {
        guard !isEmpty else { return true }
        guard case .login(let user, let session, let hostKey) = purpose, let last = bindings.last,
            last.session == session, hostKey.map({ $0 == last.hostKey }) ?? (bindings.count == 1)
        else { return false }
        return permit(bindings, user: user)
    }
}
