// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKSSH

/// Passes an agent's key operations to the task that owns the key.
package final class AgentKeys: SSHKeySource {
    /// An operation.
    package enum Job: Sendable {
        /// Lists the keys that are available, if clients still wait for that: ``AgentKeys/isListAwaited``.
        case identities
        /// Signs.
        case sign(SSHSignatureRequest, AgentCall<SSHSignature>)
        /// Answers a request of an extension of the protocol.
        case answer(SSHExtensionRequest, AgentCall<[UInt8]>)
        /// Releases the card if the session with this number still lasts.
        case release(Int)
    }

    private struct State {
        /// The clients that wait for the list of keys.
        var lists: [Int: CheckedContinuation<[SSHIdentity], Never>] = [:]
        /// The last list.
        var known: [SSHIdentity]?
        /// What ends the operations that clients wait for.
        var ends: [Int: @Sendable () -> Void] = [:]
        var number = 0

        mutating func next() -> Int {
            number += 1
            return number
        }
    }

    /// How long a list of keys may take before the last one is used: the key may be waiting for the user.
    private static let listPatience = Duration.milliseconds(300)

    /// The operations, in order.
    package let jobs: AsyncStream<Job>
    package let extensions: Set<String>
    private let queue: AsyncStream<Job>.Continuation
    private let report: @Sendable (SSHAgentRefusal) -> Void
    private let state = Mutex(State())

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - extensions: The names of the protocol extensions that the task answers.
    ///   - report: Called when the agent refuses a signature without asking.
    package init(extensions: Set<String> = [], refused report: @escaping @Sendable (SSHAgentRefusal) -> Void) {
        (jobs, queue) = AsyncStream.makeStream(of: Job.self)
        (self.extensions, self.report) = (extensions, report)
    }

    /// Ends ``jobs``; pending and later requests are refused.
    package func end() {
        queue.finish()
        for (_, end) in state.withLock({ $0.ends }) { end() }
        list([])
    }

    package func identities() async -> [SSHIdentity] {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state in
                let number = state.next()
                state.lists[number] = continuation
                return number
            }
            guard case .enqueued = queue.yield(.identities) else { return list([]) }
            Task {
                try? await Task.sleep(for: Self.listPatience)
                self.useLastList(number)
            }
        }
    }

    private func useLastList(_ number: Int) {
        let late: (CheckedContinuation<[SSHIdentity], Never>, [SSHIdentity])? = state.withLock { state in
            guard let known = state.known else { return nil }
            return state.lists.removeValue(forKey: number).map { ($0, known) }
        }
        if let (continuation, known) = late { continuation.resume(returning: known) }
    }

    /// Whether a client waits for the list of keys.
    package var isListAwaited: Bool { state.withLock { !$0.lists.isEmpty } }

    /// Answers all clients that wait for the list of keys.
    package func list(_ identities: [SSHIdentity]) {
        let waiting = state.withLock { state in
            state.known = identities
            defer { state.lists = [:] }
            return state.lists
        }
        for (_, continuation) in waiting { continuation.resume(returning: identities) }
    }

    package func sign(_ request: SSHSignatureRequest) async -> SSHSignature? {
        await value { .sign(request, $0) }
    }

    package func answer(_ request: SSHExtensionRequest) async -> [UInt8]? {
        await value { .answer(request, $0) }
    }

    private func value<Value: Sendable>(_ job: (AgentCall<Value>) -> Job) async -> Value? {
        let call = AgentCall<Value>()
        let number = state.withLock { state in
            let number = state.next()
            state.ends[number] = { call.leave() }
            return number
        }
        defer { state.withLock { _ = $0.ends.removeValue(forKey: number) } }
        return await call.value { call in
            if case .enqueued = queue.yield(job(call)) { true } else { false }
        }
    }

    /// Releases the card, after the operations that wait.
    package func release(_ number: Int) { queue.yield(.release(number)) }

    package func refused(_ refusal: SSHAgentRefusal) { report(refusal) }
}
