// SPDX-License-Identifier: Apache-2.0

/// The user of an operation, who is told what happens, confirms what cannot be undone, and touches the key.
public protocol UserInteraction: Sendable {
    /// Reports a warning or a step.
    func tell(_ news: any UserNews)

    /// Asks whether to continue. Silence and an empty answer mean no.
    ///
    /// - Throws: `Declined`, or an error of the implementation, such as a missing terminal.
    nonisolated(nonsending) func confirm(_ question: any UserConfirmation) async throws

    /// Begins to wait for a touch. The key may answer immediately, so the user is notified only if the wait continues.
    func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch
}

/// Something to report: a value defined by the reporting library, which the program puts into words.
public protocol UserNews: Sendable {}

/// The purpose of the exchanges that follow: `sign a file`.
public struct OperationPurpose: UserNews, Hashable {
    /// The purpose, as the end of "to …".
    public let text: String
    /// Names a purpose.
    public init(_ text: String) { self.text = text }
}

/// Something to confirm: a value defined by the asking library, which the program puts into words.
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

/// The person was told to touch the key, but did not do so in time.
public struct TouchMissed: Error, Hashable, Sendable {
    /// A missed touch.
    public init() {}
}
