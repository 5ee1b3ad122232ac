// SPDX-License-Identifier: Apache-2.0

import CThreads
import YKTransport

/// Keeps the threads of a short run on one processor, with one heap.
///
/// The main thread, the thread of a service, and the thread that calls pcscd hand the work to each other and never run
/// at the same time. Waking a thread on another, idle processor takes longer than switching to it, and each thread
/// would begin its own heap: together 5 to 13 % of a run over PC/SC. `YKIT_PROCESSORS=all` leaves both as they are, for
/// `tools/bench/hacks`.
package enum OneProcessor {
    /// How long the threads may first wait before the run no longer counts as short.
    package static let milliseconds: Int32 = 50

    /// Begins a run.
    package static func keep() {
        guard Variables["YKIT_PROCESSORS"] != "all" else { return }
        ykit_share_heap()
        ykit_keep_processor()
    }

    /// Lets all threads use all processors, for a long run. A verb that keeps the main thread busy for a long time
    /// calls it itself. Before another program is started, `ChildProcess` does the same.
    package static func leave() { ykit_leave_processor() }
}
