// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKVirtualKeyHost
import YKWire

/// A virtual key on the USB, whose host is the other end of a socket pair.
struct USBIPTests {
    /// A server on a thread, and what it reports.
    final class Served: Sendable {
        let stop = Cancellation()
        let events = Mutex<[ServedKeyEvent]>([])
        let failure = Mutex<USBIPError?>(nil)
        let hosts: [Host]
        private let ends: Mutex<[Int32]>
        private let thread = Mutex<BackgroundThread?>(nil)

        init(_ key: VirtualKey = .demonstration(), _ faults: String = "", times: Int = 1) throws {
            let kernels = (0..<times).map { _ in Kernel(SOCK_STREAM) }
            hosts = kernels.map { Host($0) }
            ends = Mutex(kernels.map(\.served))
            let plan = try FaultPlan(parsing: faults)
            thread.withLock { thread in
                thread = BackgroundThread { [self] in
                    let server = USBIPServer(
                        key, faults: plan, cancellation: stop,
                        report: { [self] event in events.withLock { $0.append(event) } },
                        attach: { [self] () throws(USBIPError) in
                            try ends.withLock { ends throws(USBIPError) in
                                guard !ends.isEmpty else { throw .noPort }
                                return (ends.removeFirst(), 77)
                            }
                        })
                    do throws(USBIPError) { try server.run() } catch { failure.withLock { $0 = error } }
                }
            }
        }

        func end(byItself: Bool = false) {
            if !byItself { stop.cancel() }
            thread.withLock { $0 }?.join()
        }
    }

    /// The host's side of USB/IP.
    final class Host: Sendable {
        let kernel: Kernel
        private let sequence = Mutex<UInt64>(0)

        init(_ kernel: Kernel) { self.kernel = kernel }

        /// A transfer as it is sent, and its number.
        func transfer(
            isIn: Bool, _ endpoint: UInt64, length: Int, setup: [UInt8] = [UInt8](repeating: 0, count: 8),
            data: [UInt8] = []
        ) -> (number: UInt64, bytes: [UInt8]) {
            let number = sequence.withLock { number in
                number += 1
                return number
            }
            var writer = ByteWriter()
            for value in [1, number, 65538, isIn ? 1 : 0, endpoint, 0, UInt64(length), 0, 0, 0] {
                writer.bigEndian(value, 4)
            }
            return (number, writer.bytes + setup + data)
        }

        /// The next answer: its command, number, status and data.
        func answer(isIn: Bool = true) -> (command: UInt8, number: UInt8, status: Int32, data: [UInt8]) {
            let head = kernel.receive(48)
            guard head.count == 48 else { return (0, 0, 0, []) }
            let status = Int32(bitPattern: head[20..<24].reduce(0) { $0 << 8 | UInt32($1) })
            let count = head[24..<28].reduce(0) { $0 << 8 | Int($1) }
            return (head[3], head[7], status, isIn && head[3] == 3 ? kernel.receive(count) : [])
        }

        /// A control transfer from the device; `nil` when it was refused.
        func get(
            _ kind: UInt8, _ request: UInt8, _ value: UInt16, _ index: UInt8 = 0, _ length: UInt8 = 255
        ) -> [UInt8]? {
            let setup = [kind, request, UInt8(truncatingIfNeeded: value), UInt8(value >> 8), index, 0, length, 0]
            kernel.send(transfer(isIn: true, 0, length: Int(length), setup: setup).bytes)
            let answer = answer()
            return answer.status == 0 ? answer.data : nil
        }

        /// A control transfer to the device; whether it was taken.
        func set(_ kind: UInt8, _ request: UInt8, _ value: UInt16, _ index: UInt8 = 0, _ data: [UInt8] = []) -> Bool {
            let setup = [
                kind, request, UInt8(truncatingIfNeeded: value), UInt8(value >> 8), index, 0, UInt8(data.count), 0,
            ]
            kernel.send(transfer(isIn: false, 0, length: data.count, setup: setup, data: data).bytes)
            return answer(isIn: false).status == 0
        }

        func write(_ endpoint: UInt64, _ data: [UInt8]) -> Int32 {
            kernel.send(transfer(isIn: false, endpoint, length: data.count, data: data).bytes)
            return answer(isIn: false).status
        }

        func read(_ endpoint: UInt64, _ length: Int = 64) -> [UInt8] {
            kernel.send(transfer(isIn: true, endpoint, length: length).bytes)
            return answer().data
        }
    }

    @Test func descriptors() throws {
        let served = try Served()
        let host = served.hosts[0]
        let device = try #require(host.get(0x80, 6, 0x0100))
        expect(device, is: [18, 1, 0, 2, 0, 0, 0, 64, 0x50, 0x10, 7, 4, 0x71, 5, 1, 2, 0, 1])
        expect(host.get(0x80, 6, 0x0100, 0, 8)?.count, is: 8)
        let configuration = try #require(host.get(0x80, 6, 0x0200))
        #expect(Int(configuration[2]) == configuration.count && configuration[4] == 3)
        expect(host.get(0x80, 6, 0x0300), is: [4, 3, 9, 4])
        expect(host.get(0x80, 6, 0x0301), is: [14, 3, 89, 0, 117, 0, 98, 0, 105, 0, 99, 0, 111, 0])
        expect(host.get(0x80, 6, 0x0302)?.first, is: 44)
        expect(host.get(0x80, 6, 0x0600), is: nil)
        #expect(host.set(0, 9, 1) && host.get(0x80, 8, 0) == [1])
        #expect(host.get(0x80, 0, 0) == [0, 0] && host.get(0x81, 0x0A, 0, 2) == [0])
        #expect(host.set(0, 5, 3) && host.set(1, 0x0B, 0, 1) && !host.set(0, 0x77, 0))
        expect(host.get(0x81, 6, 0x2200, 1)?.prefix(3), is: [0x06, 0xD0, 0xF1])
        #expect(host.get(0x81, 6, 0x2100, 1)?.count == 9 && host.get(0x81, 6, 0x2100, 0)?.count == 9)
        expect(host.get(0x81, 6, 0x2200, 0)?.prefix(4), is: [5, 1, 9, 6])
        #expect(host.get(0x81, 6, 0x2200, 9) == nil && host.get(0xC0, 1, 0) == nil)
        #expect(host.set(0x21, 0x0A, 0, 1) && host.set(0x21, 0x0A, 0, 0) && !host.set(0x21, 0x77, 0, 1))
        #expect(host.read(0x0F) == [] && host.write(0x0F, [1]) == -32)
        served.end()
        expect(served.events.withLock { $0.last }, is: .removed)
    }

    @Test func fidoReports() throws {
        let served = try Served(.demonstration(), "at 3: remove 1ms", times: 2)
        let host = served.hosts[0]
        let hello = try CTAPHID.Message(.initialize, on: .broadcast, [1, 2, 3, 4, 5, 6, 7, 8]).reports()[0]
        expect(host.write(4, hello), is: 0)
        expect(host.read(4).prefix(19), is: hello.prefix(4) + [0x86, 0, 17, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1])
        let (number, bytes) = host.transfer(isIn: true, 4, length: 64)
        host.kernel.send(bytes)
        var unlink = ByteWriter()
        for value in [2, 500, 65538, 0, 0, number, 0, 0, 0, 0, 0, 0] { unlink.bigEndian(value, 4) }
        host.kernel.send(unlink.bytes)
        let unlinked = host.answer()
        #expect(unlinked.command == 4 && unlinked.status == -104)
        host.kernel.send(unlink.bytes)
        expect(host.answer().status, is: 0)
        let wink = try CTAPHID.Message(.wink, on: .init(rawValue: 1)).reports()[0]
        expect(host.write(4, wink), is: 0)
        expect(host.read(4)[4], is: 0x88)
        _ = host.write(4, wink)
        expect(served.hosts[1].write(4, wink), is: 0)
        expect(served.hosts[1].read(4)[4..<8], is: [0xBF, 0, 1, 0x0B])
        served.hosts[1].kernel.hangUp()
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: .gone)
        #expect(served.events.withLock { $0.contains(.winked) })
    }

    @Test("a host that makes no sense is hung up on", arguments: ["command", "length", "endpoint"])
    func hostile(_ what: String) throws {
        let served = try Served()
        var (_, bytes) = served.hosts[0].transfer(isIn: true, 0, length: 8)
        switch what {
        case "command": bytes[3] = 9
        case "length": bytes[24] = 0xFF
        default: bytes[16] = 1
        }
        served.hosts[0].kernel.send(bytes)
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: .gone)
    }

    @Test("too many transfers at once")
    func flood() throws {
        let served = try Served()
        for _ in 0..<300 { served.hosts[0].kernel.send(served.hosts[0].transfer(isIn: true, 4, length: 64).bytes) }
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: .gone)
    }

    @Test func otpFrames() throws {
        let served = try Served()
        let host = served.hosts[0]
        let status: [UInt8] = [0, 5, 7, 1, 0, 0, 0, 0]
        #expect(host.get(0xA1, 1, 0x0300, 0, 8) == status && host.get(0xA1, 1, 0x0100, 0, 8)?.count == 8)
        func ask(_ slot: UInt8, crc: [UInt8] = [0xE5, 0xE5]) -> [[UInt8]] {
            var frame = [UInt8](repeating: 0, count: 64) + [slot] + crc + [0, 0, 0]
            if crc == [0xE5, 0xE5] {
                let sum = frame[..<64].reduce(UInt16(0xFFFF)) { crc, byte in
                    (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
                }
                frame[65] = UInt8(sum & 0xFF)
                frame[66] = UInt8(sum >> 8)
            }
            for place in [0, 9] {
                #expect(
                    host.set(0x21, 9, 0x0300, 0, Array(frame[(place * 7)..<(place * 7 + 7)]) + [0x80 | UInt8(place)]))
            }
            var reports: [[UInt8]] = []
            while let report = host.get(0xA1, 1, 0x0300, 0, 8), report != status { reports.append(report) }
            return reports
        }
        expect(ask(0x10).first?.prefix(4), is: [0x01, 0x00, 0x00, 0x01])
        expect(ask(0x10).map { $0[7] }, is: [0x40, 0x40])
        #expect(ask(0x13).count > 5)
        #expect(ask(0x01).isEmpty && ask(0x10, crc: [1, 2]).isEmpty)
        #expect(!host.set(0x21, 9, 0x0300, 0, [1]) && host.set(0x21, 9, 0x0300, 0, [0, 0, 0, 0, 0, 0, 0, 0x8A]))
        #expect(host.set(0x21, 9, 0x0300, 0, [0, 0, 0, 0, 0, 0, 0, 0x8F]) && host.set(0x21, 9, 0x0200, 0, [1]))
        served.end()
    }

    @Test(
        "errors say what is wrong",
        arguments: [
            (USBIPError.missing(path: "/x"), "vhci-hcd module"), (.denied(path: "/x"), "no permission"),
            (.noPort, "in use"), (.failed(path: "/x", errno: 5, "Input/output error"), "Input/output"),
            (.gone, "removed"),
        ])
    func errors(_ error: USBIPError, _ words: String) { #expect(error.description.contains(words)) }

    @Test func calledOffOrNoPort() throws {
        let stopped = Cancellation()
        stopped.cancel()
        try USBIPServer(.demonstration(), cancellation: stopped).run()
        let served = try Served(times: 0)
        served.end(byItself: true)
        expect(served.failure.withLock { $0 }, is: .noPort)
    }
}
