// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// The devices of a machine, of any kind that a key has.
struct DeviceMachine: Sendable {
    /// Where libudev is missing, sysfs is read every half second.
    var library: UDevLibrary? = HIDMachine.this.library
    /// Whether the udev daemon runs.
    var hasDaemon: @Sendable () -> Bool = HIDMachine.this.hasDaemon

    /// Tells, at once and then each time, that devices may be different, until the stream is no longer read.
    func watch() -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { stream in
            guard let watch = DeviceWatch(self, stream) else { return stream.finish() }
            stream.onTermination = { _ in watch.stop() }
            if !SystemThread.start({ watch.run() }) { stream.finish() }
        }
    }
}

/// Waits for devices on a thread of its own.
final class DeviceWatch: Sendable {
    private static let round: Int32 = 500

    private let machine: DeviceMachine
    private let stream: AsyncStream<Void>.Continuation
    /// Two sockets: the writing one is closed to end the wait.
    private let wake: (reading: Int32, writing: Int32)

    init?(_ machine: DeviceMachine, _ stream: AsyncStream<Void>.Continuation) {
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
        repeat {
            while monitor?.take() ?? false {}
            stream.yield()
        } while wait(monitor)
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
}
