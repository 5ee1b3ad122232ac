// SPDX-License-Identifier: Apache-2.0

import CCoverage
import Glibc

/// The exit status of the process.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case failed = 1
    case usage = 2
    case noDevice = 3
    case severalDevices = 4
    case permission = 5
    case busy = 6
    case removed = 7
    case authentication = 8
    case blocked = 9
    case timeOut = 10
    case notSupported = 11
    case notFound = 12
    case malformed = 13
    case replayMismatch = 14
    case policy = 15
    case server = 16
    case declined = 17
    case interrupted = 130

    /// Ends the process.
    ///
    /// The exit handlers of loaded libraries do not run: other threads may still be inside those libraries, and would
    /// crash.
    package func end() -> Never {
        fflush(nil)
        ykit_coverage_add()
        _exit(rawValue)
    }

    /// Its description in the help text and the man page.
    package var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "failed for another reason"
        case .usage: "usage"
        case .noDevice: "no device"
        case .severalDevices: "several devices or accounts match, choose one"
        case .permission: "permission refused (udev, polkit)"
        case .busy: "device held by another program"
        case .removed: "device removed"
        case .authentication: "authentication failed (wrong password, PIN or key)"
        case .blocked: "blocked"
        case .timeOut: "not touched in time, or timed out"
        case .notSupported: "not supported by this key"
        case .notFound: "not found"
        case .malformed: "malformed reply or input"
        case .replayMismatch: "the recording does not have this"
        case .policy: "refused by policy"
        case .server: "server not reached, or its certificate or pin refused"
        case .declined: "declined by the user, or no terminal for a prompt"
        case .interrupted: "interrupted"
        }
    }

    /// All exit codes, one per line.
    package static var table: String {
        allCases.map { "  \(String($0.rawValue).padded(to: 4))\($0.meaning)" }.joined(separator: "\n")
    }
}
