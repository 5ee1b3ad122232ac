// SPDX-License-Identifier: Apache-2.0

package import YKDesktop
package import YKInteraction
package import YKTransport

extension PromptProgram {
    /// Runs a program that asks, on a thread of its own; it is ended when the task is cancelled.
    ///
    /// - Parameters:
    ///   - terminal: Where a program that cannot ask is reported.
    ///   - cancellation: Ends the program too.
    ///   - ask: Runs the program, which its argument ends.
    package static nonisolated(nonsending) func asking<Value: Sendable>(
        _ terminal: Terminal, _ cancellation: Cancellation = Cancellation(),
        _ ask: @escaping @Sendable (Cancellation) throws(PromptFailure) -> Value
    ) async throws(Declined) -> Value {
        let result: Result<Value, PromptFailure> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isStarted = SystemThread.start {
                    continuation.resume(returning: Result { () throws(PromptFailure) in try ask(cancellation) })
                }
                guard !isStarted else { return }
                continuation.resume(
                    returning: .failure(.cannotAsk(program: "ykit", reason: "the system allows no more threads")))
            }
        } onCancel: {
            cancellation.cancel()
        }
        do throws(PromptFailure) { return try result.get() } catch {
            switch error {
            case .declined: throw .no
            case .withdrawn: throw .withdrawn
            case .timedOut:
                terminal.say("the question was not answered in time")
                throw .timedOut
            case .cannotAsk:
                let explanation = Explanation(error)
                terminal.warn(Warning(explanation))
                if let hint = explanation.hint { terminal.notice("hint: \(hint)") }
                throw .nobodyToAsk
            }
        }
    }
}
