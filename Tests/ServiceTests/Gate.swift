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
    }

    private let state = Mutex(State())
    private let exit = Semaphore()

    init() {
        _ = SystemThread.start { [weak self] in
            for _ in 0..<6000 {
                usleep(100_000)
                guard let self, !self.isOpen else { return }
            }
            self?.force()
        }
    }

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
        state.withLock { $0.isForced = true }
        open()
    }

    /// Blocks the thread until the gate is open, without looking at any deadline.
    func pass() {
        guard !isOpen else { return }
        state.withLock { $0.waiting += 1 }
        exit.wait()
        exit.post()
        state.withLock { $0.waiting -= 1 }
    }

    /// Waits, on Swift's pool, until so many threads stand at the gate.
    func await(_ count: Int) async {
        while waiting < count, !isForced { await Task.yield() }
    }
}

/// A card whose exchanges stop at a gate.
final class GatedCard: CardLink {
    private let link: any CardLink
    private let gate: Gate

    init(_ link: sending any CardLink, _ gate: Gate) {
        self.link = link
        self.gate = gate
    }

    var identity: CardIdentity { link.identity }
    func begin(deadline: Deadline) throws(LinkError) -> Bool { try link.begin(deadline: deadline) }
    func end() { link.end() }
    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) { try link.reset(kind, deadline: deadline) }
    func close() { link.close() }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        gate.pass()
        return try link.exchange(command, deadline: deadline)
    }
}

/// A HID device whose reports stop at a gate.
final class GatedReports: ReportLink {
    private let link: any ReportLink
    private let gate: Gate

    init(_ link: sending any ReportLink, _ gate: Gate) {
        self.link = link
        self.gate = gate
    }

    var identity: ReportIdentity { link.identity }
    func close() { link.close() }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        gate.pass()
        try link.write(report, deadline: deadline)
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] { try link.read(deadline: deadline) }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        gate.pass()
        try link.setFeature(report, deadline: deadline)
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        gate.pass()
        return try link.feature(deadline: deadline)
    }
}
