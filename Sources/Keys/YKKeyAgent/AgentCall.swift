// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A client that waits for an operation. It leaves when it hangs up, or when the agent ends.
package final class AgentCaller: Sendable {
    private struct State {
        var hasLeft = false
        var actions: [Int: @Sendable () -> Void] = [:]
        var number = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether it has left.
    package var hasLeft: Bool { state.withLock { $0.hasLeft } }

    package func leave() {
        let actions = state.withLock { state in
            state.hasLeft = true
            defer { state.actions = [:] }
            return state.actions
        }
        for (_, action) in actions { action() }
    }

    /// Asks the user for this client: `question` is cancelled when the client leaves.
    package nonisolated(nonsending) func asking<Value: Sendable, Failure: Error>(
        _ question: @escaping @Sendable () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let task = Task { () -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await question()) } catch { return .failure(error) }
        }
        let number: Int? = state.withLock { state in
            guard !state.hasLeft else { return nil }
            state.number += 1
            state.actions[state.number] = { task.cancel() }
            return state.number
        }
        if number == nil { task.cancel() }
        let result = await task.value
        if let number { state.withLock { _ = $0.actions.removeValue(forKey: number) } }
        return try result.get()
    }
}

/// An operation that a client waits for. The first answer counts; a client that leaves gets none.
package final class AgentCall<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value?, Never>?
        var hasEnded = false
    }

    package let caller = AgentCaller()
    private let state = Mutex(State())

    /// Answers; `nil` refuses.
    package func answer(_ value: Value?) {
        let continuation = state.withLock { state in
            defer { state = State(hasEnded: true) }
            return state.continuation
        }
        continuation?.resume(returning: value)
    }

    /// Waits for the answer to an operation that `begin` queues; returns `nil` if that fails.
    func value(_ begin: (AgentCall) -> Bool) async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let hasEnded = state.withLock { state in
                    if !state.hasEnded { state.continuation = continuation }
                    return state.hasEnded
                }
                if hasEnded { return continuation.resume(returning: nil) }
                if !begin(self) { answer(nil) }
            }
        } onCancel: {
            leave()
        }
    }

    func leave() {
        caller.leave()
        answer(nil)
    }
}
