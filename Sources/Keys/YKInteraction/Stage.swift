// SPDX-License-Identifier: Apache-2.0

package import YKTransport

/// What a run has around it: the person, the streams, the variables and the environment of services. That of the process
/// is `Stage.live` in TerminalIO; a test has one of its own, so that many run at once in one process.
package struct Stage: Sendable {
    /// Who is asked and told.
    package var person: any Person
    /// Where results and messages go.
    package var streams: Streams
    /// The environment variables.
    package var variables: EnvironmentVariables
    /// Randomness, clock and cancellation.
    package var environment: ServiceEnvironment
    /// Runs closures after a delay.
    package var alarm: Alarm

    package init(
        person: any Person, streams: Streams, variables: EnvironmentVariables, environment: ServiceEnvironment,
        alarm: Alarm
    ) {
        (self.person, self.streams, self.variables) = (person, streams, variables)
        (self.environment, self.alarm) = (environment, alarm)
    }
}

/// The environment variables that a run sees.
package struct EnvironmentVariables: Sendable {
    private let value: @Sendable (String) -> String?

    /// - Parameter value: Returns the value of a variable; `nil` if it is not set.
    package init(_ value: @escaping @Sendable (_ name: String) -> String?) { self.value = value }

    /// The value of a variable; `nil` if it is not set or empty.
    package subscript(name: String) -> String? { value(name).flatMap { $0.isEmpty ? nil : $0 } }
}

/// Where a run writes its results and its messages.
package struct Streams: Sendable {
    /// One of the streams.
    package enum Stream: Hashable, Sendable {
        /// Standard output.
        case results
        /// Standard error.
        case messages
    }

    /// Why not all bytes were written.
    package enum Failure: Error {
        /// The reader has closed its end.
        case closed
        /// Another reason, which `errno` has.
        case failed
    }

    /// The size of a terminal.
    package struct Size: Sendable {
        package let columns: Int
        package let rows: Int

        package init(columns: Int, rows: Int) { (self.columns, self.rows) = (columns, rows) }
    }

    /// The streams that go to a terminal.
    package var terminals: Set<Stream>
    /// Whether what is read from standard input is typed at a terminal.
    package var isInputTyped: Bool
    /// The size of the terminal to which a stream goes; `nil` for anything else.
    package var size: @Sendable (Stream) -> Size?
    /// Writes all bytes.
    package var write: @Sendable ([UInt8], Stream) throws(Failure) -> Void

    package init(
        terminals: Set<Stream>, isInputTyped: Bool, size: @escaping @Sendable (Stream) -> Size?,
        write: @escaping @Sendable ([UInt8], Stream) throws(Failure) -> Void
    ) {
        (self.terminals, self.isInputTyped, self.size, self.write) = (terminals, isInputTyped, size, write)
    }
}
