// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKSmartCard
import YKTestSupport
import YKTransport

@testable import YKHardware

extension RealPCSCD {
    /// The calls of PC/SC (`YKSmartCard`) at a real pcscd, with OpenSC as the other program on the same reader.
    @Suite struct SmartCardCallsTests {
        private func code(_ body: () throws(SmartCardError) -> Void) -> SmartCardError? {
            do throws(SmartCardError) {
                try body()
                return nil
            } catch { return error }
        }

        @Test func whatOpenSCSees() throws {
            let lab = try Lab(readers: 2)
            let context = try SmartCardContext(LabReaders(service: lab.service))
            let names = try context.listReaders()
            let listed = lab.opensc("--list-readers")
            #expect(names.count == 2 && names.allSatisfy(listed.contains), "\(listed)")
            expect(code { () throws(SmartCardError) in _ = try context.connect(reader: names[0]) }, is: .noSmartCard)

            let card = try lab.plug(1)
            let handle = try context.connect(reader: names[1])
            let status = try handle.status()
            #expect(status.reader == names[1] && status.atr == VPCDCard.atr && status.activeProtocol == .t1)
            expect(status.state & 0x14, is: 0x14, "present and powered")
            let atr = VPCDCard.atr.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: ":")
            #expect(lab.opensc("--reader", names[1], "--atr").contains(atr))
            try expect(handle.getAttrib(.atr), is: VPCDCard.atr)

            try expect(handle.transmit([0, 0xA4, 4, 0, 2, 0xCA, 0xFE]), is: [0, 0xA4, 4, 0, 2, 0xCA, 0xFE, 0x90, 0])
            let theirs = lab.opensc(
                "--reader", names[1], "--card-driver", "default", "--send-apdu", "00A4040002CAFE")
            #expect(theirs.contains("SW1=0x90, SW2=0x00") && theirs.contains("00 A4 04 00 02 CA FE"), "\(theirs)")
            expect(card.commands.filter { $0 == [0, 0xA4, 4, 0, 2, 0xCA, 0xFE] }.count, is: 2)
            try handle.disconnect()
        }

        @Test func otherProgramsAreKeptOffAndNoticed() throws {
            let lab = try Lab()
            let card = try lab.plug()
            let context = try SmartCardContext(LabReaders(service: lab.service))
            let handle = try context.connect(reader: lab.readers[0])
            let other = try SmartCardContext(LabReaders(service: try RealService.at(lab.sandbox.socketPath)))
            let refused = code { () throws(SmartCardError) in
                _ = try other.connect(reader: lab.readers[0], share: .exclusive)
            }
            expect(refused, is: .sharingViolation)
            let second = try other.connect(reader: lab.readers[0])
            try second.disconnect(.reset)
            expect(card.resets, is: 1)
            expect(code { () throws(SmartCardError) in _ = try handle.transmit([0, 1, 2, 3]) }, is: .resetCard)
            expect(code { () throws(SmartCardError) in _ = try handle.status() }, is: .resetCard)
            try expect(handle.reconnect(), is: .t1)
            try expect(handle.transmit([0, 1, 2, 3]), is: [0, 1, 2, 3, 0x90, 0])
            try handle.beginTransaction()
            try handle.endTransaction(.reset)
            expect(card.resets, is: 2)
        }

        @Test func theReaderIsAskedItself() throws {
            let lab = try Lab()
            let card = try lab.plug()
            let handle = try SmartCardContext(LabReaders(service: lab.service)).connect(reader: lab.readers[0])
            // The sandbox's readers give the bytes of an escape back, and have no other codes.
            try expect(handle.control(0x4200_0001, [1, 2, 3]), is: [1, 2, 3])
            try expect(handle.control(0x4200_0001), is: [])
            let features: UInt32 = 0x4200_0000 + 3400
            expect(
                code { () throws(SmartCardError) in _ = try handle.control(features) }, is: .unsupportedFeature)
            let vendor = SmartCardAttribute(rawValue: 0x0001_0100)
            expect(code { () throws(SmartCardError) in _ = try handle.getAttrib(vendor) }, is: .unsupportedFeature)
            #expect(card.commands.isEmpty, "nothing of it went to the card")
        }

        @Test func changesAreWaitedFor() throws {
            let lab = try Lab()
            let context = try SmartCardContext(LabReaders(service: lab.service))
            var state = try context.getStatusChange(timeout: .zero, [ReaderState(lab.readers[0])])[0]
            expect(state.event, is: [.empty, .changed])
            expect(
                code { () throws(SmartCardError) in
                    _ = try context.getStatusChange(timeout: .milliseconds(50), [state.seen])
                }, is: .timeout)
            let card = try VPCDCard(port: lab.sandbox.ports[0])
            state = try context.getStatusChange(timeout: .seconds(60), [state.seen])[0]
            #expect(state.event.contains([.present, .changed]))
            try lab.waitFor { !$0.atr.isEmpty }
            let handle = try context.connect(reader: lab.readers[0])
            card.unplug()
            expect(code { () throws(SmartCardError) in _ = try handle.transmit([0, 1, 2, 3]) }, is: .removedCard)
            repeat {
                state = try context.getStatusChange(timeout: .seconds(60), [state.seen])[0]
            } while state.event.contains(.present)
            #expect(state.event.contains(.empty) && state.atr.isEmpty)

            let canceller = context.canceller
            Thread.detachNewThread { canceller.cancel() }
            expect(
                code { () throws(SmartCardError) in
                    _ = try context.getStatusChange(timeout: .seconds(60), [state.seen])
                }, is: .cancelled)
            context.resume()
            try lab.sandbox.control(.kill)
            expect(code { () throws(SmartCardError) in _ = try context.listReaders() }, is: .noService)
        }
    }
}

/// The readers of a daemon of one's own.
private struct LabReaders: SmartCardReaders {
    let service: PCSCService

    func readers(deadline: Deadline) throws(LinkError) -> [ReaderStatus] { try service.readers(deadline) }

    func readers(otherThan known: [ReaderStatus], deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try service.readers(otherThan: known, deadline)
    }

    func connect(reader: String, share: PCSC.Share, deadline: Deadline) throws(LinkError) -> sending any CardLink {
        try service.connect(reader: reader, share: share, deadline: deadline)
    }
}

extension Lab {
    /// What opensc-tool prints at this daemon.
    fileprivate func opensc(_ arguments: String...) -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/opensc-tool")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(
            ["PCSCLITE_CSOCK_NAME": sandbox.socketPath], uniquingKeysWith: { $1 })
        process.standardOutput = output
        process.standardError = output
        do { try process.run() } catch { return "\(error)" }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}
