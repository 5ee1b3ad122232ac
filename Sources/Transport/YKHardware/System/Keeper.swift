// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import YKTransport

/// A copy of this process that waits for its end, however it ends, and then undoes something.
package final class Keeper: Sendable {
    private let child: pid_t
    /// The copy ends when this is closed, and this process learns of the copy's end from the other one.
    private let (hold, ended): (Int32, Int32)

    private init(child: pid_t, hold: Int32, ended: Int32) { (self.child, self.hold, self.ended) = (child, hold, ended) }

    /// Starts the copy, in a session of its own, which ^C does not reach. Must be called before any thread is started.
    ///
    /// - Parameter undo: Runs in the copy once this process has ended, also by SIGKILL; then the copy ends.
    /// - Returns: `nil` if the process cannot be copied, with `errno`.
    package static func start(_ undo: () -> Void) -> Keeper? {
        var (down, up): ([Int32], [Int32]) = ([-1, -1], [-1, -1])
        guard pipe(&down) == 0 else { return nil }
        guard pipe(&up) == 0 else {
            for end in down { close(end) }
            return nil
        }
        for end in down + up { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = ykit_fork_alone()
        if child == 0 {
            keep(down, up)
            undo()
            _exit(0)
        }
        let failure = errno
        close(down[0])
        close(up[1])
        guard child > 0 else {
            close(down[1])
            close(up[0])
            errno = failure
            return nil
        }
        return Keeper(child: child, hold: down[1], ended: up[0])
    }

    /// The copy: waits until nobody holds the other end of the pipe. Signals that end this process do not end the copy.
    private static func keep(_ down: [Int32], _ up: [Int32]) {
        setsid()
        for number in [SIGINT, SIGTERM, SIGQUIT, SIGHUP] { signal(number, SIG_IGN) }
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        for stream in Int32(0)...2 { dup2(null, stream) }
        close(null)
        close(down[1])
        close(up[0])
        var byte: UInt8 = 0
        while read(down[0], &byte, 1) != 0 { if errno != EINTR { break } }
    }

    /// Calls `body`, on a separate thread, when the copy has ended before ``end()``.
    package func whenEnded(_ body: @escaping @Sendable () -> Void) {
        _ = SystemThread.start { [ended] in
            var byte: UInt8 = 0
            while read(ended, &byte, 1) < 0 && errno == EINTR {}
            body()
        }
    }

    /// Ends the copy, which undoes what is left, and waits for it.
    package func end() {
        close(hold)
        while waitpid(child, nil, 0) < 0 && errno == EINTR {}
    }
}
