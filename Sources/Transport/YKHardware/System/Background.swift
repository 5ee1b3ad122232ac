// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc

/// A copy of this process that continues in the background, once the questions on the terminal are answered.
package struct Background: ~Copyable {
    private let ready: Int32

    /// The two processes after ``fork()``.
    package enum Process: ~Copyable {
        /// The original one, once the copy is in the background or has exited: the status to exit with.
        case original(status: Int32)
        /// The copy.
        case copy(Background)
    }

    /// Copies this process; the original waits. Must be called before any thread is started.
    ///
    /// - Returns: `nil` if the process cannot be copied, with `errno`.
    package static func fork() -> Process? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = ykit_fork_alone()
        if child == 0 {
            close(ends[0])
            return .copy(Background(ready: ends[1]))
        }
        let failure = errno
        close(ends[1])
        defer {
            close(ends[0])
            errno = failure
        }
        return child > 0 ? .original(status: status(of: child, ends[0])) : nil
    }

    private static func status(of child: pid_t, _ end: Int32) -> Int32 {
        var byte: UInt8 = 0
        var count = 0
        repeat { count = read(end, &byte, 1) } while count < 0 && errno == EINTR
        if count > 0 { return 0 }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }

    /// Leaves the terminal: in a session of its own, and with /dev/null for the standard streams. The original then exits.
    package consuming func begin() {
        setsid()
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for stream in Int32(0)...2 { dup2(null, stream) }
        close(null)
        var byte: UInt8 = 0
        _ = write(ready, &byte, 1)
        close(ready)
    }
}

/// The system's log (syslog(3)).
package enum SystemLog {
    /// Writes a line.
    package static func write(_ line: String) { ykit_log(line) }
}
