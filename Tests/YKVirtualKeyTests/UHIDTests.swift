// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// A virtual key as a HID device of the kernel, which is played by the other end of a socket pair.
struct UHIDTests {
    /// A server on a thread, and what it reports.
    final class Served: Sendable {
        let stop = Cancellation()
        let events = Mutex<[ServedKeyEvent]>([])
        let failure = Mutex<UHIDError?>(nil)
        let kernels: [Kernel]
        private let ends: Mutex<[Int32]>
        private let thread = Mutex<BackgroundThread?>(nil)

        init(_ key: VirtualKey, _ faults: String = "", times: Int = 1) throws {
            kernels = (0..<times).map { _ in Kernel(SOCK_SEQPACKET) }
            let plan = try FaultPlan(parsing: faults)
            ends = Mutex(kernels.map(\.served))
            thread.withLock { thread in
                thread = BackgroundThread { [self] in
                    let server = UHIDServer(
                        key, faults: plan, cancellation: stop,
                        report: { [self] event in events.withLock { $0.append(event) } },
                        open: { [self] in ends.withLock { $0.isEmpty ? (-1, EACCES) : ($0.removeFirst(), 0) } })
                    do throws(UHIDError) { try server.run() } catch { failure.withLock { $0 = error } }
                }
            }
        }

        func end(byItself: Bool = false) {
            if !byItself { stop.cancel() }
            thread.withLock { $0 }?.join()
        }
    }

    private static func number(_ message: [UInt8]) -> UInt8 { message.first ?? 0xFF }

    private static func output(_ report: [UInt8]) -> [UInt8] {
        let data = [0] + report
        return [6, 0, 0, 0] + data + [UInt8](repeating: 0, count: 4096 - data.count) + [65, 0, 1]
    }

    private static func reports(_ command: UInt8, _ channel: [UInt8], _ payload: [UInt8]) throws -> [[UInt8]] {
        let number = channel.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return try CTAPHID.Message(.init(rawValue: command), on: .init(rawValue: number), payload).reports()
    }

    /// Sends a message and gives the first report of the answer.
    private func ask(_ kernel: Kernel, _ command: UInt8, _ channel: [UInt8], _ payload: [UInt8] = []) throws -> [UInt8]
    {
        for report in try Self.reports(command, channel, payload) { kernel.send(Self.output(report)) }
        let input = kernel.receive()
        try #require(input.count == 70 && input.prefix(6) == [12, 0, 0, 0, 64, 0])
        return Array(input.dropFirst(6))
    }

    private let everybody: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]

    @Test("the device is made, answers, and is taken away")
    func session() throws {
        let served = try Served(.demonstration())
        let kernel = served.kernels[0]
        let created = kernel.receive()
        #expect(created.count == 4 + 276 + 34 && created.prefix(4) == [11, 0, 0, 0])
        expect(String(decoding: created[4..<33], as: UTF8.self), is: "Yubico YubiKey OTP+FIDO+CCID\0")
        expect(Array(created[260..<264]), is: [34, 0, 3, 0])
        expect(Array(created[264..<270]), is: [0x50, 0x10, 0, 0, 0x07, 0x04])
        expect(Array(created[276..<284]), is: [0, 0, 0, 0, 0x06, 0xD0, 0xF1, 0x09])
        for number: UInt8 in [2, 4] { kernel.send([number, 0, 0, 0]) }
        let hello = try ask(kernel, 0x06, everybody, [1, 2, 3, 4, 5, 6, 7, 8])
        expect(Array(hello[..<24]), is: everybody + [0x86, 0, 17, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 2, 5, 7, 1, 5])
        let info = try ask(kernel, 0x10, [0, 0, 0, 1], [4])
        expect(info.prefix(6), is: [0, 0, 0, 1, 0x90, 1])
        for _ in 0..<((256 + Int(info[6]) - 57 + 58) / 59) { _ = kernel.receive() }
        try expect(ask(kernel, 0x08, [0, 0, 0, 1])[4], is: 0x88)
        served.end()
        expect(kernel.receive(), is: [1, 0, 0, 0])
        #expect(kernel.receive().isEmpty)
        let events = served.events.withLock { $0 }
        #expect(events.contains(.winked) && events.last == .removed)
        #expect(events.contains { if case .written(let report) = $0 { report.count == 64 } else { false } })
    }

    @Test("the longest message goes both ways")
    func longest() throws {
        let served = try Served(.demonstration())
        let kernel = served.kernels[0]
        _ = kernel.receive()
        _ = try ask(kernel, 0x06, everybody, [1, 2, 3, 4, 5, 6, 7, 8])
        let payload = (0..<7609).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for report in try Self.reports(0x01, [0, 0, 0, 1], payload) { kernel.send(Self.output(report)) }
        var inbox = CTAPHID.Assembler(channel: .init(rawValue: 1))
        for _ in 0..<129 {
            let input = kernel.receive()
            try #require(input.count == 70)
            guard case .message(let message) = try inbox.add(Array(input.dropFirst(6))) else { continue }
            expect(message.payload, is: payload)
            return served.end()
        }
        Issue.record("129 reports were no message")
        served.end()
    }

    @Test("a program that reads a report in 2.5 ms loses none of the longest message, a short one does not wait")
    func pace() {
        let start = ContinuousClock.now
        var pace = ReportPace(at: start)
        var sent = 0
        var unread = 0
        for tick in 0..<2000 {
            let time = Duration.microseconds(tick * 100)
            while sent < 129, pace.takes(at: start + time) { sent += 1 }
            if tick == 0 { expect(sent, is: ReportPace.burst) }
            unread = max(unread, sent - tick / 25)
        }
        #expect(sent > 120 && unread <= 64)
        #expect(pace.pause(at: start + .milliseconds(199.9)) <= ReportPace.interval)
        pace.refill()
        expect(pace.pause(at: start + .milliseconds(199.9)), is: .zero)
    }

    @Test("what the kernel asks for gets an answer, what makes no sense gets none")
    func oddMessages() throws {
        let served = try Served(.demonstration())
        let kernel = served.kernels[0]
        _ = kernel.receive()
        kernel.send([9, 0, 0, 0, 7, 0, 0, 0, 0, 1])
        expect(kernel.receive(), is: [10, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0])
        kernel.send([13, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0, 0])
        expect(kernel.receive(), is: [14, 0, 0, 0, 8, 0, 0, 0, 5, 0])
        let short = Array(Self.output([UInt8](repeating: 0xFF, count: 64)).prefix(4100))
        let long = Self.output([]).prefix(4100) + [0xFF, 0xFF, 1]
        let numbered = [6, 0, 0, 0, 9] + Self.output([]).dropFirst(5)
        for bytes in [[1], [9, 0, 0, 0], [13, 0, 0], [77, 0, 0, 0], short, Array(long), numbered, [3, 0, 0, 0]] {
            kernel.send(bytes)
        }
        try expect(ask(kernel, 0x06, everybody, [8, 7, 6, 5, 4, 3, 2, 1])[4], is: 0x86)
        kernel.hangUp()
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: .gone)
    }

    @Test("a key that is taken away for a while is plugged in again and has forgotten its channels")
    func back() throws {
        let served = try Served(.demonstration(), "at 2: remove 1ms; at 4: remove", times: 2)
        _ = served.kernels[0].receive()
        _ = try ask(served.kernels[0], 0x06, everybody, [1, 2, 3, 4, 5, 6, 7, 8])
        for report in try Self.reports(0x01, [0, 0, 0, 1], [1]) { served.kernels[0].send(Self.output(report)) }
        expect(served.kernels[0].receive(), is: [1, 0, 0, 0])
        expect(Self.number(served.kernels[1].receive()), is: 11)
        try expect(ask(served.kernels[1], 0x01, [0, 0, 0, 1])[4..<8], is: [0xBF, 0, 1, 0x0B])
        _ = try ask(served.kernels[1], 0x06, everybody, [1, 2, 3, 4, 5, 6, 7, 8])
        for report in try Self.reports(0x01, [0, 0, 0, 1], [1]) { served.kernels[1].send(Self.output(report)) }
        expect(served.kernels[1].receive(), is: [1, 0, 0, 0])
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: nil)
    }

    @Test(
        "a kernel without uhid, or a user without permission",
        arguments: [(ENOENT, "uhid module is not loaded"), (EACCES, "no permission"), (EIO, "Input/output error")])
    func refused(_ code: Int32, _ words: String) throws {
        let server = UHIDServer(
            .demonstration(), cancellation: Cancellation(), report: { _ in }, open: { (-1, code) })
        let error = #expect(throws: UHIDError.self) { try server.run() }
        expect(error?.description.contains(words), is: true)
        #expect(UHIDError.gone.description.contains("removed"))
    }

    @Test("without anything said otherwise, /dev/uhid is opened, unless called off before")
    func calledOff() throws {
        let stopped = Cancellation()
        stopped.cancel()
        try UHIDServer(.demonstration(), cancellation: stopped).run()
    }
}
