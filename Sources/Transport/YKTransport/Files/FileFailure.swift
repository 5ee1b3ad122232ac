// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a file could not be read or written.
public struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    public enum Attempt: String, Sendable {
        case open, read, create, write, replace, lock
        /// Writing a file into a folder.
        case writeIn = "write in"
    }

    /// The operation that failed.
    public let attempt: Attempt
    /// The file or folder.
    public let path: String
    /// The system's error number; `ECANCELED` after a cancellation.
    public let number: Int32

    /// Captures the error number of the call that just failed.
    package init(_ attempt: Attempt, _ path: String, _ number: Int32 = errno) {
        self.attempt = attempt
        self.path = path
        self.number = number
    }

    /// The system's error message.
    public var reason: String { String(cString: strerror(number)) }

    /// The operation, the path and the system's error message.
    public var description: String { "cannot \(attempt.rawValue) \(path): \(reason)" }
}
