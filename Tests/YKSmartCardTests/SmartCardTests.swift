// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCapture
import YKHardware
import YKSmartCard
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The calls of PC/SC over played readers.
@Suite struct SmartCardTests {
    private static let atr = DeviceProfile(serial: 1).atr

    private func readers(_ names: String...) -> PlayedReaders {
        let readers = PlayedReaders()
        let key = VirtualKey.demonstration()
        for name in names { readers.insert(name, atr: Self.atr) { key.link() } }
        return readers
    }

    private func code(_ body: () throws(SmartCardError) -> Void) -> SmartCardError? {
        do throws(SmartCardError) {
            try body()
            return nil
        } catch { return error }
    }

    @Test func aWholeSession() throws {
        let context = try SmartCardContext(readers("B", "A"))
        #expect(context.isValidContext)
        try expect(context.listReaders(), is: ["A", "B"])
        let card = try context.connect(reader: "A")
        expect(card.activeProtocol, is: .t1)
        let status = try card.status()
        #expect(status.state == 0x54 && status.atr == Self.atr && status.activeProtocol == .t1)
        try card.beginTransaction()
        try card.beginTransaction()
        try expect(card.transmit(Hex.decode("00a4040007a000000527210100")).suffix(2), is: [0x90, 0])
        try card.endTransaction()
        try expect(card.transmit(Hex.decode("00a10000")).suffix(2), is: [0x90, 0])
        try card.endTransaction(.reset)
        try expect(card.transmit(Hex.decode("00a10000")).suffix(2), is: [0x6D, 0])
        try expect(card.reconnect(), is: .t1)
        try expect(card.reconnect(initialization: .unpower), is: .t1)
        try card.disconnect(.eject)
        try context.releaseContext()
        #expect(!context.isValidContext)
    }

    @Test("readers on the USB without the service: those of this machine, each once")
    func readersOnTheUSB() throws {
        let readers = USBReaders()
        let names = try readers.readers(deadline: .after(.seconds(5))).map(\.name)
        expect(Set(names).count, is: names.count)
        let context = try SmartCardContext(readers)
        expect(code { () throws(SmartCardError) in _ = try context.connect(reader: "no such") }, is: .unknownReader)
        #expect(throws: LinkError.timedOut("a change of the readers")) {
            try readers.readers(
                otherThan: try readers.readers(deadline: .after(.seconds(5))), deadline: .after(.milliseconds(200)))
        }
    }

    @Test func attributes() throws {
        let card = try SmartCardContext(readers("A")).connect(reader: "A", share: .exclusive, protocols: .t1)
        try expect(card.getAttrib(.atr), is: Self.atr)
        try expect(
            String(decoding: card.getAttrib(.friendlyName).dropLast(), as: UTF8.self), is: "ykit virtual YubiKey")
        try expect(card.getAttrib(.systemName).last, is: 0)
        try expect(card.getAttrib(.currentProtocol), is: [2, 0, 0, 0])
        try expect(card.getAttrib(.presence), is: [2])
        try expect(card.getAttrib(.maxInput), is: [5, 1, 0, 0])
        expect(
            code { () throws(SmartCardError) in _ = try card.getAttrib(.init(rawValue: 1)) }, is: .unsupportedFeature)
    }

    @Test func codes() throws {
        let readers = readers("A")
        readers.empty("E")
        let context = try SmartCardContext(readers)
        expect(code { () throws(SmartCardError) in _ = try context.connect(reader: "X") }, is: .unknownReader)
        expect(code { () throws(SmartCardError) in _ = try context.connect(reader: "E") }, is: .noSmartCard)
        #expect(
            code { () throws(SmartCardError) in _ = try context.connect(reader: "A", protocols: .t0) }
                == .protocolMismatch)
        let card = try context.connect(reader: "A")
        expect(code { () throws(SmartCardError) in _ = try card.transmit([0, 1, 2]) }, is: .invalidParameter)
        let long = [UInt8](repeating: 0, count: 70_000)
        expect(code { () throws(SmartCardError) in _ = try card.transmit(long) }, is: .insufficientBuffer)
        expect(code { () throws(SmartCardError) in try card.endTransaction() }, is: .notTransacted)
        expect(
            code { () throws(SmartCardError) in _ = try card.reconnect(protocols: .t0) }, is: .protocolMismatch)
        try card.disconnect()
        expect(code { () throws(SmartCardError) in try card.disconnect() }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in _ = try card.transmit([0, 0, 0, 0]) }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in _ = try card.status() }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in _ = try card.getAttrib(.atr) }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in try card.beginTransaction() }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in try card.endTransaction() }, is: .invalidHandle)
        readers.detach("A")
        readers.detach("E")
        expect(code { () throws(SmartCardError) in _ = try context.listReaders() }, is: .noReadersAvailable)
        try context.releaseContext()
        expect(code { () throws(SmartCardError) in try context.releaseContext() }, is: .invalidHandle)
        expect(code { () throws(SmartCardError) in _ = try context.listReaders() }, is: .invalidHandle)
    }

    @Test(arguments: [
        (LinkError.serviceNotRunning, SmartCardError.noService), (.serviceNotInstalled, .noService),
        (.serviceMismatch, .noService), (.accessDenied(.service), .securityViolation), (.noReader, .noReadersAvailable),
        (.unknownReader(""), .unknownReader), (.noDevice(path: ""), .unknownReader),
        (.noCard(reader: ""), .noSmartCard),
        (.busy(reader: "", holders: []), .sharingViolation), (.removed, .removedCard), (.reset, .resetCard),
        (.timedOut(""), .timeout), (.cancelled, .cancelled), (.unresponsive(""), .unresponsiveCard),
        (.malformed(WireError(.truncated, at: 0, "")), .communicationError), (.capture(""), .internalError),
        (.failed(code: 0x8010_0017, ""), .readerUnavailable), (.failed(code: 7, ""), .unknownError),
        (.failed(code: 0x8010_1234, ""), .init(rawValue: 0x8010_1234)),
    ])
    func failuresOfALink(error: LinkError, expected: SmartCardError) throws {
        let readers = PlayedReaders()
        readers.insert("A", atr: Self.atr) { () throws(LinkError) in throw error }
        let context = try SmartCardContext(readers)
        expect(code { () throws(SmartCardError) in _ = try context.connect(reader: "A") }, is: expected)
        #expect(!expected.description.isEmpty)
    }

    @Test func aCardThatIsTakenAwayInTheMiddle() throws {
        let readers = PlayedReaders()
        let plan = try FaultPlan(parsing: "at 2: remove")
        readers.insert("A", atr: Self.atr) { FaultyLink(VirtualKey.demonstration().link(), plan: plan) }
        let card = try SmartCardContext(readers).connect(reader: "A")
        _ = try card.transmit(Hex.decode("00a4040007a000000527210100"))
        expect(code { () throws(SmartCardError) in _ = try card.transmit([0, 0xA1, 0, 0]) }, is: .removedCard)
        expect(code { () throws(SmartCardError) in try card.disconnect(.reset) }, is: .removedCard)
        expect(code { () throws(SmartCardError) in _ = try card.status() }, is: .invalidHandle)
    }

    @Test func aRecordingIsACardToo() throws {
        let text = """
            {"capture":1,"link":"card","atr":"3b80800101"}
            {"c":"00b0000001","r":"aa9000"}
            """
        let replay = CaptureReplay(try Capture(parsing: Array(text.utf8)))
        let readers = PlayedReaders()
        readers.insert("R", atr: [0x3B, 0x80, 0x80, 0x01, 0x01]) { replay.link() }
        let card = try SmartCardContext(readers).connect(reader: "R", protocols: [.t0, .raw])
        expect(card.activeProtocol, is: .t0)
        try expect(card.transmit([0, 0xB0, 0, 0, 1]), is: [0xAA, 0x90, 0])
        expect(code { () throws(SmartCardError) in _ = try card.transmit([0, 0xB0, 0, 0, 1]) }, is: .internalError)
    }

    @Test("the service of this machine serves, or is named as what is missing")
    func theServiceOfThisMachine() throws {
        let service = ServiceReaders()
        let deadline = Deadline.after(.milliseconds(200))
        let readers: [ReaderStatus]
        do throws(LinkError) { readers = try service.readers(deadline: deadline) } catch {
            #expect(throws: SmartCardError.self) { try SmartCardContext() }
            #expect(throws: LinkError.self) { try service.readers(otherThan: [], deadline: deadline) }
            #expect(throws: LinkError.self) { try service.connect(reader: "none", share: .shared, deadline: deadline) }
            return
        }
        #expect(throws: Never.self) { try SmartCardContext().releaseContext() }
        #expect(throws: LinkError.self) { try service.connect(reader: "none", share: .shared, deadline: deadline) }
        _ = try? service.readers(otherThan: readers, deadline: deadline)
    }
}
