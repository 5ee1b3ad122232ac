// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Waits for device events on the calling thread until stopped from another.
final class DeviceWatch: Sendable {
    /// The polling interval when no event source is available.
    private static let round: Int32 = 500

    private let news: DeviceNews
    /// A socket pair: closing the writing end stops the wait.
    private let wake: (reading: Int32, writing: Int32)

    init?(_ news: DeviceNews) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        wake = (ends[0], ends[1])
        self.news = news
    }

    deinit { _ = close(wake.reading) }

    /// Stops the wait.
    func stop() { _ = close(wake.writing) }

    /// Calls `look` at once, and again after each event.
    func run(_ look: () -> Void) {
        let monitor = news.library?.monitor(news.hasDaemon() ? .daemon : .kernel)
        defer { monitor?.close() }
        repeat {
            while monitor?.take() ?? false {}
            look()
        } while wait(monitor)
    }

    /// Waits until something may have happened; returns false when the watch was stopped.
    private func wait(_ monitor: UDevMonitor?) -> Bool {
        let events = Int16(POLLIN)
        var waiting = [pollfd(fd: wake.reading, events: events, revents: 0)]
        if let monitor { waiting.append(pollfd(fd: monitor.descriptor, events: events, revents: 0)) }
        _ = poll(&waiting, nfds_t(waiting.count), monitor == nil ? Self.round : -1)
        return waiting[0].revents == 0
    }
}
