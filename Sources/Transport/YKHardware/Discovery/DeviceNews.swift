// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Reports that devices are added, changed or removed.
struct DeviceNews: Sendable {
    /// Without libudev, devices are polled every half second.
    var library: UDevLibrary?
    /// Whether the udev daemon is running.
    var hasDaemon: @Sendable () -> Bool = { access("/run/udev/control", F_OK) == 0 }

    /// The news of this machine; libudev is loaded at first use.
    static let here = DeviceNews(library: .load())

    /// Calls `look` at once, and then whenever devices may have changed, until the stream is no longer read. `look`
    /// receives its previous knowledge, and returns the events to report.
    func stream<Known: Sendable, Event: Sendable>(
        after nothing: Known, keeping policy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded,
        _ look: @escaping @Sendable (inout Known) -> [Event]
    ) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: policy) { stream in
            let watch = follow(after: nothing, look, { stream.yield($0) }, ended: { stream.finish() })
            guard let watch else { return stream.finish() }
            stream.onTermination = { _ in watch.stop() }
        }
    }

    /// The same without tasks: calls `report` for each event, on a thread of its own, until the watch is stopped.
    ///
    /// - Returns: `nil` if the system has no descriptor or thread left.
    func follow<Known: Sendable, Event>(
        after nothing: Known, _ look: @escaping @Sendable (inout Known) -> [Event],
        _ report: @escaping @Sendable (Event) -> Void, ended: @escaping @Sendable () -> Void = {}
    ) -> DeviceWatch? {
        guard let watch = DeviceWatch(self) else { return nil }
        let isStarted = SystemThread.start {
            var known = nothing
            watch.run { for event in look(&known) { report(event) } }
            ended()
        }
        return isStarted ? watch : nil
    }

    /// Yields at once, and then whenever devices may have changed; missed signals are merged into one.
    func changes() -> AsyncStream<Void> { stream(after: (), keeping: .bufferingNewest(1)) { _ in [()] } }
}
