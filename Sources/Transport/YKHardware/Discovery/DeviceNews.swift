// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Who tells that devices come, change and go.
struct DeviceNews: Sendable {
    /// Where libudev is missing it is time to look every half second.
    var library: UDevLibrary?
    /// Whether the udev daemon runs.
    var hasDaemon: @Sendable () -> Bool = { access("/run/udev/control", F_OK) == 0 }

    /// Those of this machine; libudev is opened at the first use.
    static let here = DeviceNews(library: .load())

    /// Looks at once, and then each time that devices may be different, until the stream is no longer read. `look` is
    /// given what it knew the last time, and gives what there is to tell.
    func stream<Known: Sendable, Event: Sendable>(
        after nothing: Known, keeping policy: AsyncStream<Event>.Continuation.BufferingPolicy = .unbounded,
        _ look: @escaping @Sendable (inout Known) -> [Event]
    ) -> AsyncStream<Event> {
        AsyncStream(bufferingPolicy: policy) { stream in
            guard let watch = DeviceWatch(self) else { return stream.finish() }
            stream.onTermination = { _ in watch.stop() }
            let isStarted = SystemThread.start {
                var known = nothing
                watch.run { for event in look(&known) { stream.yield(event) } }
                stream.finish()
            }
            if !isStarted { stream.finish() }
        }
    }

    /// Rings at once, and then each time that devices may be different; what was not heard rings once.
    func bells() -> AsyncStream<Void> { stream(after: (), keeping: .bufferingNewest(1)) { _ in [()] } }
}
