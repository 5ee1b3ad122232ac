// SPDX-License-Identifier: Apache-2.0

package import YKHardware
package import YKInteraction
package import YKTransport

/// Runs other programs until they exit or ^C is pressed.
package enum Spawn {
    /// Finds a program on the PATH.
    package static func find(_ name: String) -> String? { ChildProcess.find(name) }

    /// Runs a program until it exits; kills it after the timeout or on an interruption.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], variables: [String: String] = [:],
        hasTerminal: Bool = true, within limit: Duration = ChildProcess.limit
    ) throws -> ChildProcess.Ending {
        try ChildProcess.run(
            program, arguments, input: input, variables: variables, hasTerminal: hasTerminal,
            deadline: .after(limit, cancellation: Interruption.cancellation))
    }
}

extension UserFolder {
    /// Its path.
    package func required(_ variables: EnvironmentVariables) throws(Explanation) -> String {
        guard let path = path({ variables[$0] }) else { throw Explanation.noHome(variable) }
        return path
    }

    /// Runs `body` while a folder is locked against changes by other programs that lock it, waiting for them.
    package static func locked<Value>(
        _ folder: String, _ cancellation: Cancellation, _ body: () throws -> Value
    ) throws -> Value {
        try locked(folder, cancellation, explainedBy: { $0 as any Error }, body)
    }
}
