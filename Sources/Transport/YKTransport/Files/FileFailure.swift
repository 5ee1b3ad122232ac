// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Why a file could not be written.
package struct FileFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The operation that failed.
    package enum Attempt: String, Sendable {
        case create, write, replace
    }

    package let attempt: Attempt
    package let path: String
    /// The system's error number.
    package let number: Int32

    /// Takes the error number of the call that just failed.
    package init(_ attempt: Attempt, _ path: String, _ number: Int32 = errno) {
        self.attempt = attempt
        self.path = path
        self.number = number
    }

    /// The system's error message.
    package var reason: String { String(cString: strerror(number)) }

    package var description: String { "cannot \(attempt.rawValue) \(path): \(reason)" }
}
