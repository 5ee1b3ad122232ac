// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKInteraction
package import YKSSH

/// An agent client's request to use a key.
package struct AgentUse: Hashable, Sendable {
    /// The operation.
    package enum Operation: Hashable, Sendable {
        /// A signature, with the host of the session that it is for, if known.
        case sign(SignaturePurpose, host: [UInt8]?)
        /// The file key of age is unwrapped.
        case decrypt
    }

    package let operation: Operation
    /// The name of the key.
    package let key: String
    /// The host keys of the machines through which the agent was forwarded, the nearest one first.
    package let hops: [[UInt8]]

    /// Describes a signature.
    package init(_ request: SSHSignatureRequest) {
        let host = request.hostKey.flatMap { $0 == request.hops.last ? nil : $0 }
        self.init(.sign(request.purpose, host: host), key: request.identity.comment, hops: request.hops)
    }

    package init(_ operation: Operation, key: String, hops: [[UInt8]]) {
        (self.operation, self.key, self.hops) = (operation, key, hops)
    }
}

/// The user who is asked before an agent uses a key.
package protocol AgentUser: Sendable {
    /// Asks without waiting for the answer.
    ///
    /// - Parameter answer: Called with whether the user agrees, on any thread; the first call counts.
    func ask(_ use: AgentUse, answer: @escaping @Sendable (Bool) -> Void)
    /// Withdraws the question if it is pending.
    func withdraw()
}

/// Decides which uses of keys the user is asked about, and asks: those that must be confirmed, and those by clients on
/// other machines unless the policy names the machine.
package final class AgentConsent: Sendable {
    private let policy: RemotePolicy
    private let user: any AgentUser
    /// The consents by the host key of the nearest machine, which only the local ssh can name: a machine that invents
    /// further hosts does not get more questions that way, nor does it use up those of others. Questions for local
    /// programs are not counted.
    private let consents = Mutex<[[UInt8]: Consent]>([:])

    package init(_ policy: RemotePolicy, user: any AgentUser) { (self.policy, self.user) = (policy, user) }

    /// Whether the user is asked about a use.
    package func asks(_ use: AgentUse, needsConfirmation: Bool) -> Bool {
        needsConfirmation || !use.hops.allSatisfy { policy.isAllowedAlways(SSHPublicKey.fingerprint(ofHost: $0)) }
    }

    /// Asks, and returns why a use is refused; `nil` if the user agrees.
    package func refusal(of use: AgentUse) async -> RemotePolicy.Refusal? {
        guard let nearest = use.hops.first else { return await refusal(of: use, Consent(policy)) }
        let consent = consents.withLock { consents in
            let consent = consents[nearest] ?? Consent(policy)
            consents[nearest] = consent
            return consent
        }
        return await refusal(of: use, consent)
    }

    private func refusal(of use: AgentUse, _ consent: Consent) async -> RemotePolicy.Refusal? {
        if consent.isSilent { return .tooManyQuestions }
        return await consent.agrees({ user.ask(use, answer: $0) }, withdraw: user.withdraw) ? nil : .declined
    }
}
