// SPDX-License-Identifier: Apache-2.0

package import YKSSH

/// Passes an agent's key operations to the task that owns the key.
package final class AgentKeys: SSHKeySource {
    /// An operation.
    package enum Job: Sendable {
        /// Lists the keys that are available.
        case identities(CheckedContinuation<[SSHIdentity], Never>)
        /// Signs.
        case sign(SSHSignatureRequest, CheckedContinuation<SSHSignature?, Never>)
        /// Answers a request of an extension of the protocol.
        case answer(SSHExtensionRequest, CheckedContinuation<[UInt8]?, Never>)
        /// Releases the card if the session with this number still lasts.
        case release(Int)
    }

    /// The operations, in order.
    package let jobs: AsyncStream<Job>
    package let extensions: Set<String>
    private let queue: AsyncStream<Job>.Continuation
    private let report: @Sendable (SSHAgentRefusal) -> Void

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - extensions: The names of the protocol extensions that the task answers.
    ///   - report: Called when the agent refuses a signature without asking.
    package init(extensions: Set<String> = [], refused report: @escaping @Sendable (SSHAgentRefusal) -> Void) {
        (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        (self.extensions, self.report) = (extensions, report)
    }

    /// Ends ``jobs``; later requests are refused.
    package func end() { queue.finish() }

    package func identities() async -> [SSHIdentity] {
        await withCheckedContinuation { continuation in
            if case .enqueued = queue.yield(.identities(continuation)) { return }
            continuation.resume(returning: [])
        }
    }

    package func sign(_ request: SSHSignatureRequest) async -> SSHSignature? {
        await withCheckedContinuation { continuation in
            if case .enqueued = queue.yield(.sign(request, continuation)) { return }
            continuation.resume(returning: nil)
        }
    }

    package func answer(_ request: SSHExtensionRequest) async -> [UInt8]? {
        await withCheckedContinuation { continuation in
            if case .enqueued = queue.yield(.answer(request, continuation)) { return }
            continuation.resume(returning: nil)
        }
    }

    /// Releases the card, after the operations that wait.
    package func release(_ number: Int) { queue.yield(.release(number)) }

    package func refused(_ refusal: SSHAgentRefusal) { report(refusal) }
}
