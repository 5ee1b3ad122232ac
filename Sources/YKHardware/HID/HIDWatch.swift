// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

extension HIDMachine {
    /// Tells of devices until the stream is no longer read.
    func watch() -> AsyncStream<HIDEvent> {
        AsyncStream { stream in
            guard let watch = HIDWatch(self, stream) else { return stream.finish() }
            stream.onTermination = { _ in watch.stop() }
            if !SystemThread.start({ watch.run() }) { stream.finish() }
        }
    }
}

/// Waits for devices on a thread of its own and tells a stream of them.
final class HIDWatch: Sendable {
    /// How long it is until sysfs is read again where nobody tells what happens.
    private static let round: Int32 = 500

    private let machine: HIDMachine
    private let stream: AsyncStream<HIDEvent>.Continuation
    /// Two sockets: the writing one is closed to end the wait.
    private let wake: (reading: Int32, writing: Int32)

    init?(_ machine: HIDMachine, _ stream: AsyncStream<HIDEvent>.Continuation) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { return nil }
        wake = (ends[0], ends[1])
        self.machine = machine
        self.stream = stream
    }

    deinit { _ = close(wake.reading) }

    /// Ends the wait.
    func stop() { _ = close(wake.writing) }

    func run() {
        let monitor = machine.library?.monitor(machine.hasDaemon() ? .daemon : .kernel)
        defer { monitor?.close() }
        var known = tell(after: [])
        stream.yield(.enumerated)
        while wait(monitor) {
            while monitor?.take() ?? false {}
            known = tell(after: known)
        }
        stream.finish()
    }

    /// Waits until something may have happened; false when the watch is over.
    private func wait(_ monitor: UDevMonitor?) -> Bool {
        let events = Int16(POLLIN)
        var waiting = [pollfd(fd: wake.reading, events: events, revents: 0)]
        if let monitor { waiting.append(pollfd(fd: monitor.descriptor, events: events, revents: 0)) }
        _ = poll(&waiting, nfds_t(waiting.count), monitor == nil ? Self.round : -1)
        return waiting[0].revents == 0
    }

    /// Tells what is different and gives what is known now. A device is the same as long as its folder in sysfs is: the
    /// kernel gives each a number that it never gives again.
    private func tell(after known: [HIDDevice]) -> [HIDDevice] {
        guard let now = try? machine.keys() else { return known }
        for old in known where !now.contains(where: { $0.sysPath == old.sysPath }) { stream.yield(.left(old)) }
        for new in now {
            guard let old = known.first(where: { $0.sysPath == new.sysPath }) else {
                stream.yield(.arrived(new))
                continue
            }
            if new != old { stream.yield(.changed(new)) }
        }
        return now
    }
}
