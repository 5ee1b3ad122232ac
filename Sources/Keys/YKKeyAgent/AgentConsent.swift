// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKInteraction
package import YKSSH

/// An agent client's request to use a key, and the question whether it may.
package struct AgentUse: Question, Hashable {
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

    package var way: Way<Void> { .agree(()) }
}

/// Why a use is refused.
package enum AgentRefusal: Hashable, Sendable {
    /// The user did not agree.
    case declined(Declined)
    /// Too many questions without a yes.
    case tooManyQuestions
}

/// Decides which uses of keys the user is asked about, and asks: those that must be confirmed, and those by clients on
/// other machines unless the policy names the machine.
package final class AgentConsent: Sendable {
    private let policy: RemotePolicy
    private let person: any Person
    /// The consents by the host key of the nearest machine, which only the local ssh can name: a machine that invents
    /// further hosts does not get more questions that way, nor does it use up those of others. Questions for local
    /// programs are not counted.
    private let consents = Mutex<[[UInt8]: Consent]>([:])

    package init(_ policy: RemotePolicy, person: any Person) { (self.policy, self.person) = (policy, person) }

    /// Whether the user is asked about a use.
    package func asks(_ use: AgentUse, needsConfirmation: Bool) -> Bool {
        needsConfirmation || !use.hops.allSatisfy { policy.isAllowedAlways(SSHPublicKey.fingerprint(ofHost: $0)) }
    }

    /// Asks, and returns why a use is refused; `nil` if the user agrees.
    package nonisolated(nonsending) func refusal(of use: AgentUse) async -> AgentRefusal? {
        let consent = consent(for: use)
        if consent.isSilent { return .tooManyQuestions }
        return await consent.refusal(of: use, by: person).map { .declined($0) }
    }

    private func consent(for use: AgentUse) -> Consent {
        guard let nearest = use.hops.first else { return Consent() }
        return consents.withLock { consents in
            let consent = consents[nearest] ?? Consent()
            consents[nearest] = consent
            return consent
        }
    }
}
