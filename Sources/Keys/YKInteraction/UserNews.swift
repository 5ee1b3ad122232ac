// SPDX-License-Identifier: Apache-2.0

/// Something to report: a value defined by the reporting library, which the program puts into words.
public protocol UserNews: Sendable {}

/// The purpose of the exchanges that follow: `sign a file`.
public struct OperationPurpose: UserNews, Hashable {
    /// The purpose, as the end of "to …".
    public let text: String
    /// Names a purpose.
    public init(_ text: String) { self.text = text }
}

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
