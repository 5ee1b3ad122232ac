// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKWire

@testable import YKTransport
@testable import YKVirtualKey
@testable import YKVirtualKeyHost

/// The virtual key's card reader without a kernel between; its clock runs only while something is waited for.
final class VirtualPipe: USBPipe {
    private var reader: CCIDInterface
    private var now = ContinuousClock.now
    let packetSize = 64
    private let log: Log

    /// What was sent.
    final class Log: Sendable {
        private let commands = Mutex<[CCID.Command]>([])
        var sent: [CCID.Command] { commands.withLock { $0 } }
        func add(_ command: CCID.Command) { commands.withLock { $0.append(command) } }
    }

    var sent: [CCID.Command] { log.sent }

    init(_ key: VirtualKey = .demonstration(), level: ReaderLevel, faults: String = "", log: Log = Log()) throws {
        self.log = log
        reader = CCIDInterface(key, level: level, faults: try FaultPlan(parsing: faults), report: { _ in })
    }

    func send(_ data: [UInt8], deadline: Deadline) throws(USBFailure) {
        if let command = try? CCID.Command(decoding: data) { log.add(command) }
        reader.receive(data, at: now)
        if reader.absence != nil { throw .link(.removed) }
    }

    func receive(_ limit: Int, deadline: Deadline) throws(USBFailure) -> USBArrival {
        for _ in 0..<10_000 {
            if deadline.isCancelled { throw .link(.cancelled) }
            if reader.absence != nil { throw .link(.removed) }
            if reader.isHalted(0x82) { throw .stalled }
            if let data = reader.next(endpoint: 0x82, limit: limit, at: now) { return .data(data) }
            now = now.advanced(by: .milliseconds(50))
            reader.poll(at: now)
        }
        throw .link(.timedOut("the reader's answer"))
    }

    func news() throws(USBFailure) -> [UInt8]? { reader.next(endpoint: 0x83, limit: 8, at: now) }
    func request(_ number: UInt8, value: UInt16, deadline: Deadline) throws(USBFailure) {}
    func clearHalt(isIn: Bool) throws(USBFailure) { reader.clearHalt(isIn ? 0x82 : 0x02) }
    func close() {}

    func link(level: ReaderLevel) throws(LinkError) -> USBCardLink {
        try USBCardLink(
            CCIDCard(CCIDSlot(self, level.descriptor)), reader: "virtual", deadline: .after(.seconds(60)))
    }
}
