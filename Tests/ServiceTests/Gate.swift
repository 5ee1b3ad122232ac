// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKTransport

/// Where exchanges stop until the test lets them go on. A test that would wait for ever is let go after a while, and fails.
final class Gate: Sendable {
    private struct State {
        var waiting = 0
        var isOpen = false
        var isForced = false
        var awaited: (count: Int, continuation: CheckedContinuation<Void, Never>)?

        /// Whoever waits for as many threads as there are now.
        mutating func met() -> CheckedContinuation<Void, Never>? {
            guard let awaited, waiting >= awaited.count || isForced else { return nil }
            self.awaited = nil
            return awaited.continuation
        }
    }

    private let state = Mutex(State())
    private let exit = Semaphore()

    init() {
        _ = SystemThread.start { [weak self, exit] in
            if !exit.wait(milliseconds: 600_000) { self?.force() }
            exit.post()
        }
    }

    deinit { exit.post() }

    /// How many threads stand at the gate.
    var waiting: Int { state.withLock { $0.waiting } }
    /// Whether the gate had to be opened because the test did not.
    var isForced: Bool { state.withLock { $0.isForced } }
    private var isOpen: Bool { state.withLock { $0.isOpen } }

    func open() {
        state.withLock { $0.isOpen = true }
        exit.post()
    }

    private func force() {
        let met = state.withLock { state in
            state.isForced = true
            return state.met()
        }
        met?.resume()
        open()
    }

    /// Blocks the thread until the gate is open, without looking at any deadline.
    func pass() {
        guard !isOpen else { return }
        let met = state.withLock { state in
            state.waiting += 1
            return state.met()
        }
        met?.resume()
        exit.wait()
        exit.post()
        state.withLock { $0.waiting -= 1 }
    }

    /// Waits until so many threads stand at the gate.
    func await(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let met = state.withLock { state in
                state.awaited = (count, continuation)
                return state.met()
            }
            met?.resume()
        }
    }
}

/// A card whose exchanges stop at a gate.
final class GatedCard: ForwardingCardLink {
    let link: any CardLink
    private let gate: Gate

    init(_ link: sending any CardLink, _ gate: Gate) {
        self.link = link
        self.gate = gate
    }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        gate.pass()
        return try link.exchange(command, deadline: deadline)
    }
}

/// A HID device whose reports stop at a gate.
final class GatedReports: ForwardingReportLink {
    let link: any ReportLink
    private let gate: Gate

    init(_ link: sending any ReportLink, _ gate: Gate) {
        self.link = link
        self.gate = gate
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        gate.pass()
        try link.write(report, deadline: deadline)
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        gate.pass()
        try link.setFeature(report, deadline: deadline)
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        gate.pass()
        return try link.feature(deadline: deadline)
    }
}
