// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import Synchronization
import YKTransport
import YKVirtualKey

/// Reads the messages of a kernel file, on a thread that does nothing else: uhid keeps 32 that are not read, and drops
/// all others, while a program writes the reports of a long message faster than one is processed.
final class KernelReader: Sendable {
    private struct State {
        var messages: [[UInt8]] = []
        var isGone = false
        var isStopped = false
    }

    /// The number of messages that are held; the thread waits while there are more.
    private static let limit = 1024
    /// How often the thread looks for the next message before it sleeps, which takes longer to end than a program needs
    /// for 32 reports, unless the system lets it run before all others as soon as there is a message: root and services
    /// with LimitRTPRIO.
    private static let looks = 50

    private let descriptor: Int32
    private let size: Int
    private let arrived: Wake
    private let sleep: Wake
    private let state = Mutex(State())
    private let ended = Semaphore()

    /// Starts the thread, which reads the descriptor until ``stop()``.
    ///
    /// - Parameters:
    ///   - size: The longest message, in bytes.
    ///   - arrived: Signalled for each message, and when the other side is gone.
    /// - Throws: `failed` if the system has no thread or descriptor left.
    init(_ descriptor: Int32, size: Int, arrived: Wake) throws(UHIDError) {
        (self.descriptor, self.size, self.arrived) = (descriptor, size, arrived)
        sleep = try Wake()
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        guard SystemThread.start({ [self] in run() }) else {
            throw .failed(path: UHIDDevice.path, errno: EAGAIN, "the system allows no more threads")
        }
    }

    /// Whether there is something to process.
    var hasNews: Bool { state.withLock { !$0.messages.isEmpty || $0.isGone } }

    /// Removes and returns the next message: empty if there is none, `nil` if the other side is gone.
    func next() -> [UInt8]? {
        state.withLock { state in
            if state.messages.isEmpty { return state.isGone ? nil : [] }
            return state.messages.removeFirst()
        }
    }

    /// Ends the thread; the descriptor may be closed afterwards.
    func stop() {
        state.withLock { $0.isStopped = true }
        sleep.signal()
        ended.wait()
    }

    private func run() {
        defer { ended.post() }
        let looks = ykit_run_first() == 0 ? 1 : Self.looks
        var block = [UInt8](repeating: 0, count: size)
        while true {
            let (isStopped, isFull) = state.withLock { ($0.isStopped, $0.messages.count >= Self.limit) }
            if isStopped { return }
            if isFull {
                sleep.wait(for: .milliseconds(1))
                continue
            }
            sleep.wait(for: .milliseconds(50), or: descriptor)
            guard readAll(&block, looks) else {
                state.withLock { $0.isGone = true }
                arrived.signal()
                return
            }
        }
    }

    /// Reads until nothing more comes after as many looks; returns false if the other side is gone.
    private func readAll(_ block: inout [UInt8], _ looks: Int) -> Bool {
        var left = looks
        while left > 0 {
            let count = read(descriptor, &block, size)
            if count > 0 {
                let message = Array(block.prefix(count))
                let held = state.withLock { state in
                    state.messages.append(message)
                    return state.messages.count
                }
                arrived.signal()
                guard held < Self.limit else { return true }
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
