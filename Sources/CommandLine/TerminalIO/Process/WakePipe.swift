// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A pipe that wakes a prompt, which polls it along with the terminal; closed at the end of its life.
final class WakePipe: Sendable {
    /// The end that becomes readable.
    let input: Int32
    /// The end that is written to.
    let output: Int32

    /// - Throws: `Explanation` if the process has no descriptor left.
    init() throws(Explanation) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Explanation("failed", .failed, "cannot make a pipe: \(System.failure)")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (input, output) = (ends[0], ends[1])
    }

    deinit {
        close(input)
        close(output)
    }
}
