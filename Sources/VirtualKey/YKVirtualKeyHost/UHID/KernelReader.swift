// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import Synchronization
package import YKTransport

/// Reads the messages of a kernel file, on a thread that does nothing else: uhid keeps 32 that are not read, and drops
/// all others, while a program writes the reports of a long message faster than one is processed.
///
/// The thread takes no lock and no memory: on one busy processor it would wait for a thread that holds either, and that
/// thread for the program that writes.
final class KernelReader: Sendable {
    /// The number of messages that are held, twice the reports of the longest; the thread waits while there are more.
    private static let limit = 256
    /// How often the thread looks for the next message before it sleeps, which takes longer to end than a program needs
    /// for 32 reports, unless the system lets it run before all others as soon as there is a message: root and services
    /// with LimitRTPRIO.
    private static let looks = 50

    private let descriptor: Int32
    private let size: Int
    private let arrived: Wake
    private let sleep: Wake
    private let ended = Semaphore()
    /// The places of the messages and their lengths. A place belongs to the thread until `written` has passed it, and
    /// then to the caller of `next` until `taken` has.
    private nonisolated(unsafe) let places: UnsafeMutableRawPointer
    private nonisolated(unsafe) let lengths: UnsafeMutableBufferPointer<Int>
    private let written = Atomic(0)
    private let taken = Atomic(0)
    private let isGone = Atomic(false)
    private let isStopped = Atomic(false)

    /// Starts the thread, which reads the descriptor until ``stop()``.
    ///
    /// - Parameters:
    ///   - size: The longest message, in bytes.
    ///   - arrived: Signalled for each message, and when the other side is gone.
    /// - Throws: `failed` if the system has no thread or descriptor left.
    init(_ descriptor: Int32, size: Int, arrived: Wake) throws(UHIDError) {
        (self.descriptor, self.size, self.arrived) = (descriptor, size, arrived)
        sleep = try Wake()
        places = .allocate(byteCount: Self.limit * size, alignment: 8)
        lengths = .allocate(capacity: Self.limit)
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        guard SystemThread.start({ [self] in run() }) else {
            throw .failed(path: UHIDDevice.path, errno: EAGAIN, "the system allows no more threads")
        }
    }

    deinit {
        places.deallocate()
        lengths.deallocate()
    }

    /// Whether there is something to process.
    var hasNews: Bool {
        isGone.load(ordering: .acquiring)
            || written.load(ordering: .acquiring) != taken.load(ordering: .relaxed)
    }

    /// Removes and returns the next message: empty if there is none, `nil` if the other side is gone. Called by one
    /// thread.
    func next() -> [UInt8]? {
        let isGone = isGone.load(ordering: .acquiring)
        let number = taken.load(ordering: .relaxed)
        guard written.load(ordering: .acquiring) != number else { return isGone ? nil : [] }
        let place = number % Self.limit
        let message = Array(UnsafeRawBufferPointer(start: places + place * size, count: lengths[place]))
        taken.store(number + 1, ordering: .releasing)
        return message
    }

    /// Ends the thread; the descriptor may be closed afterwards.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        sleep.signal()
        ended.wait()
    }

    private func run() {
        defer { ended.post() }
        let looks = ykit_run_first() == 0 ? 1 : Self.looks
        while !isStopped.load(ordering: .acquiring) {
            if isFull {
                sleep.wait(for: .milliseconds(1))
                continue
            }
            sleep.wait(for: nil, or: descriptor)
            guard readAll(looks) else {
                isGone.store(true, ordering: .releasing)
                arrived.signal()
                return
            }
        }
    }

    private var isFull: Bool {
        written.load(ordering: .relaxed) - taken.load(ordering: .acquiring) >= Self.limit
    }

    /// Reads until nothing more comes after as many looks; returns false if the other side is gone.
    private func readAll(_ looks: Int) -> Bool {
        var left = looks
        while left > 0, !isFull {
            let number = written.load(ordering: .relaxed)
            let place = number % Self.limit
            let count = read(descriptor, places + place * size, size)
            if count > 0 {
                lengths[place] = count
                written.store(number + 1, ordering: .releasing)
                arrived.signal()
                left = looks
            } else if count < 0, errno == EAGAIN || errno == EINTR {
                left -= 1
                if left > 0 { sched_yield() }
            } else {
                return false
            }
        }
        return true
    }
}

/// Interrupts the wait of another thread.
package final class Wake: Sendable {
    private let reader: Int32
    private let writer: Int32

    /// Creates a wake in its initial state.
    ///
    /// - Throws: `failed` if the process has no descriptor left.
    package init() throws(UHIDError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else {
            throw .failed(path: "socketpair", errno: errno, String(cString: strerror(errno)))
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends the current wait, or the next one immediately. If the buffer is full, it will end anyway.
    package func signal() {
        var byte: UInt8 = 1
        _ = send(writer, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits until ``signal()``, until a descriptor has input, until a cancellation, or for at most `limit`, rounded up to
    /// milliseconds; without end if that is `nil`. Without a cancellation it takes no memory, for which it could wait for
    /// another thread.
    package func wait(for limit: Duration?, or descriptor: Int32 = -1, until cancellation: Cancellation? = nil) {
        guard isSignalled(limit, descriptor, cancellation) else { return }
        var signals: UInt64 = 0
        while recv(reader, &signals, MemoryLayout.size(ofValue: signals), 0) > 0 {}
    }

    private func isSignalled(_ limit: Duration?, _ descriptor: Int32, _ cancellation: Cancellation?) -> Bool {
        if let cancellation {
            return Readiness.wait(for: [reader, descriptor], until: [cancellation], atMost: limit)[0]
        }
        let input = Int16(POLLIN)
        var entries = (
            pollfd(fd: reader, events: input, revents: 0), pollfd(fd: descriptor, events: input, revents: 0)
        )
        let time = limit.map { Deadline.after($0).milliseconds() } ?? -1
        let count = withUnsafeMutablePointer(to: &entries) { pair in
            pair.withMemoryRebound(to: pollfd.self, capacity: 2) { poll($0, 2, time) }
        }
        return count > 0 && entries.0.revents != 0
    }
}
