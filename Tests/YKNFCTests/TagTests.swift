// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCapture
import YKNFC
import YKProtocols
import YKTestSupport
import YKTransport
import YKWire

/// Reading Type 4 tags, honest ones and others.
@Suite struct TagTests {
    private static let message = NDEFMessage([NDEFURI("https://example.com/#1").record])

    private func open(_ script: Tag.Script, _ log: Tag.Log = Tag.Log()) async throws(TagError) -> TagService {
        try await TagService.open(
            CardChannel(link: Tag(script, log), environment: ServiceEnvironment(timeout: .seconds(5))))
    }

    private func fault(_ script: Tag.Script) async -> TagError? {
        do throws(TagError) {
            _ = try await open(script).message()
            return nil
        } catch { return error }
    }

    @Test func theUsualExchanges() async throws {
        let log = Tag.Log()
        let service = try await open(Tag.Script(try Self.message.encoded()), log)
        try await expect(service.message(), is: Self.message)
        expect(
            log.commands,
            is: [
                "00a4040007d276000085010100", "00a4000c02e10300", "00b000000f", "00a4000c02e10400", "00b0000002",
                "00b0000015",
            ])
        try await expect(service.capabilities().readLimit, is: 60)
        await expect(service.statistics.exchanges, is: 8)
        await expect(service.identity.reader, is: "tag")
        await service.rest()
    }

    @Test func moreThanOneReadTakes() async throws {
        let text = String(repeating: "a", count: 1200)
        let message = NDEFMessage([try NDEFText(text).record()])
        for most in [1, 7, 60, 300] {
            var script = Tag.Script(try message.encoded())
            script.most = max(15, most)
            if most < 15 {
                script = Tag.Script(try message.encoded(), container: .init(fileSize: 2000, readLimit: 15))
            }
            let log = Tag.Log()
            try await expect(open(script, log).message(), is: message)
            let lengths = log.commands.filter { $0.hasPrefix("00b0") }.compactMap { UInt8($0.suffix(2), radix: 16) }
            #expect(lengths.allSatisfy { $0 <= (most < 15 ? 15 : 60) })
        }
    }

    @Test func behindTheReachOfAnOffset() async throws {
        var container = CapabilityContainer(fileSize: 60_000, readLimit: 255)
        let message = NDEFMessage([NDEFRecord(.unknown, payload: [UInt8](repeating: 5, count: 40_000))])
        try await expect(open(Tag.Script(try message.encoded(), container: container)).message(), is: message)
        container.lengthWidth = 4
        container.version = 0x30
        container.fileSize = 70_000
        try await expect(open(Tag.Script(try message.encoded(), container: container)).message(), is: message)
        container.fileSize = 1 << 30
        var script = Tag.Script([], container: container)
        script.files[container.file] = Tag.Script.file([], 4, length: 1 << 29)
        guard case .malformed(let error) = await fault(script) else { return #expect(Bool(false)) }
        expect(error.code, is: .tooLarge)
    }

    @Test func anOlderTag() async throws {
        var script = Tag.Script(try Self.message.encoded())
        script.applications = [.ndefVersion1]
        try await expect(open(script).message(), is: Self.message)
        script.applications = []
        await expect(fault(script), is: .notATag)
    }

    @Test func anEmptyTag() async throws {
        try await expect(open(Tag.Script([])).message(), is: nil)
        try await expect(open(Tag.Script([])).content().bytes, is: [])
    }

    @Test func protectedTags() async throws {
        var container = CapabilityContainer(fileSize: 2000, readLimit: 60)
        container.readAccess = 0xFF
        await expect(fault(Tag.Script([1], container: container)), is: .protected(access: 0xFF))
    }

    @Test func lengthsThatLie() async throws {
        let container = CapabilityContainer(fileSize: 100, readLimit: 60)
        var script = Tag.Script(try Self.message.encoded(), container: container)
        script.files[0xE104] = Tag.Script.file(try Self.message.encoded(), length: 99)
        guard case .malformed(let error) = await fault(script) else { return #expect(Bool(false)) }
        expect(error.code, is: .tooLarge)
        // As long as the file may be, but the file ends before.
        script.files[0xE104] = Tag.Script.file(try Self.message.encoded(), length: 98)
        guard case .card(.malformed(let short, _)) = await fault(script) else { return #expect(Bool(false)) }
        expect(short.code, is: .truncated)
        script.files[0xE104] = [0]
        guard case .malformed = await fault(script) else { return #expect(Bool(false)) }
        script.files[0xE104] = Tag.Script.file([1, 2])
        guard case .malformed = await fault(script) else { return #expect(Bool(false)) }
        script.files[CapabilityContainer.fileID] = [0, 0x10] + container.encoded.dropFirst(2)
        guard case .card(.malformed) = await fault(script) else { return #expect(Bool(false)) }
        script.files[CapabilityContainer.fileID] = container.encoded.map { $0 ^ 0xFF }
        guard case .malformed = await fault(script) else { return #expect(Bool(false)) }
        script.files[CapabilityContainer.fileID] = nil
        guard case .card(.status(.notFound, _)) = await fault(script) else { return #expect(Bool(false)) }
    }

    @Test func aLongContainerIsReadWhole() async throws {
        var script = Tag.Script(try Self.message.encoded())
        let plain = try #require(script.files[CapabilityContainer.fileID])
        script.files[CapabilityContainer.fileID] =
            [0, 23] + plain[2..<7] + [0x05, 6, 0xAA, 0xAA, 0, 9, 0, 0] + plain[7...]
        try await expect(open(script).message(), is: Self.message)
    }

    @Test(arguments: 1...6) func aTagThatGoesAway(number: Int) async throws {
        var script = Tag.Script(try Self.message.encoded())
        script.instead[number] = .failure(.removed)
        await expect(fault(script), is: .lost)
    }

    @Test(arguments: 2...6) func aTagThatWasResetIsReadAgain(number: Int) async throws {
        var script = Tag.Script(try Self.message.encoded())
        script.instead[number] = .failure(.reset)
        try await expect(open(script).message(), is: Self.message)
        for later in number...40 { script.instead[later] = .failure(.reset) }
        await expect(fault(script), is: .unsteady)
    }

    @Test func aTagThatChangesIsReadAgain() async throws {
        let other = NDEFMessage([NDEFURI("tel:123").record])
        var script = Tag.Script(try Self.message.encoded())
        script.later[6] = [0xE104: Tag.Script.file(try other.encoded())]
        try await expect(open(script).message(), is: other)
        for number in 6...30 {
            let uri = NDEFURI("tel:" + String(repeating: "1", count: number))
            script.later[number] = [0xE104: Tag.Script.file(try NDEFMessage([uri.record]).encoded())]
        }
        await expect(fault(script), is: .unsteady)
    }

    @Test("a tag that takes a little time for every byte is given up")
    func aTagThatHoldsOn() async throws {
        var script = Tag.Script([UInt8](repeating: 0xD0, count: 1900))
        script.most = 15
        script.pause = .milliseconds(20)
        let tag = Tag(script, Tag.Log())
        let environment = ServiceEnvironment(timeout: .seconds(1))
        let service = try await TagService.open(CardChannel(link: tag, environment: environment))
        await #expect(throws: TagError.card(.link(.timedOut("the tag to be read")))) { try await service.content() }
    }

    @Test func statusWordsAreKept() async throws {
        var script = Tag.Script(try Self.message.encoded())
        script.instead[6] = .success([0x69, 0x82])
        await expect(fault(script), is: .card(.status(.securityStatusNotSatisfied, during: "READ BINARY")))
        script.instead[6] = .success([0x90, 0x00])
        guard case .card(.malformed) = await fault(script) else { return #expect(Bool(false)) }
        script = Tag.Script(try Self.message.encoded())
        script.instead[1] = .failure(.timedOut("x"))
        await expect(fault(script), is: .card(.link(.timedOut("x"))))
    }

    @Test func theRecordingOfACanoKey() async throws {
        let replay = CaptureReplay(try Recordings.capture("ndef/canokey-read"), mode: .lookup)
        let service = try await TagService.open(CardChannel(link: replay.link(), environment: ServiceEnvironment()))
        try await expect(service.message()?.contents, is: [.uri(NDEFURI("https://canokeys.org"))])
    }
}
