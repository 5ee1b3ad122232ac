// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKHardware
import YKTransport

/// Reports from other threads to the bridge.
final class BridgeInbox: Sendable {
    /// A report.
    enum Notice: Sendable {
        /// A reader or its card changed.
        case reader(ReaderEvent)
        /// The card with this number is open, or could not be opened.
        case opened(Int, Result<CardDescription, FIDOLinkError>)
        /// The card reports on this job that it is still processing or waiting.
        case keepalive(job: Int, FIDOKeepalive)
        /// The job is done.
        case done(job: Int, BridgedCard.Reply)
        /// The question with this number was answered.
        case confirmed(Int, Bool)
    }

    private let notices = Mutex<[Notice]>([])
    private let wake: @Sendable () -> Void

    /// Creates an inbox; `wake` is called for each report.
    init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Adds a report.
    func add(_ notice: Notice) {
        notices.withLock { $0.append(notice) }
        wake()
    }

    /// Removes and returns all reports in order.
    func take() -> [Notice] {
        notices.withLock { notices in
            defer { notices = [] }
            return notices
        }
    }
}
