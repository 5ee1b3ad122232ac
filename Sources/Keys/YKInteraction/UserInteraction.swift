// SPDX-License-Identifier: Apache-2.0

/// Whoever follows an operation: is told what happens, confirms what cannot be undone, and touches the key.
public protocol UserInteraction: Sendable {
    /// Reports a warning or a step.
    func tell(_ news: any UserNews)

    /// Asks whether to continue. Silence and an empty answer mean no.
    ///
    /// - Throws: `Declined`, or the person's own error, such as that there is no terminal.
    nonisolated(nonsending) func confirm(_ question: any UserConfirmation) async throws

    /// Begins to wait for a touch. The key may answer at once: the user is notified only if the wait continues.
    func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch
}

/// Something to report, of the library that reports it: a value, whose words are the program's.
public protocol UserNews: Sendable {}

/// What the exchanges that follow are for: `sign a file`.
public struct OperationPurpose: UserNews, Hashable {
    /// The purpose, as the end of "to …".
    public let text: String
    /// Names a purpose.
    public init(_ text: String) { self.text = text }
}

/// Something to confirm, of the library that asks: a value, whose words are the program's.
public protocol UserConfirmation: Sendable {}

/// Whether a key waits for a touch.
public enum ExpectedTouch: Hashable, Sendable {
    /// It waits, unless it was touched just before.
    case required
    /// The key does not report whether this use requires one.
    case possible
}

/// A wait for a touch, which lasts until it is ended.
public protocol PendingTouch: Sendable {
    /// Whether the person was told.
    var isShown: Bool { get }

    /// Ends the wait: the key has answered.
    func end()
}

/// The person was told to touch the key, and did not in time.
public struct TouchMissed: Error, Hashable, Sendable {
    /// A missed touch.
    public init() {}
}
