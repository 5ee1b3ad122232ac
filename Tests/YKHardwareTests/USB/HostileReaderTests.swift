// SPDX-License-Identifier: Apache-2.0

import Testing
import YKTestSupport
import YKWire

@testable import YKTransport

/// Readers that lie, stall, go on without end or go away.
@Suite struct HostileReaderTests {
    private let deadline = Deadline.after(.seconds(5))
    private let command: [UInt8] = [0, 0xA4, 4, 0]

    private func ok(_ command: CCID.Command, _ data: [UInt8] = [0x90, 0]) -> CCID.Reply {
        .init(to: command, data: data)
    }

    /// What an exchange throws when the reader answers the transfer like this.
    private func failure(_ transfer: @escaping (CCID.Command) -> [ScriptedPipe.Step]) throws -> LinkError? {
        let link = try ScriptedPipe.card(transfer).link()
        do {
            _ = try link.exchange(command, deadline: deadline)
            return nil
        } catch { return error }
    }

    private func isMalformed(_ error: LinkError?) -> Bool { if case .malformed = error { true } else { false } }
    private func isUnresponsive(_ error: LinkError?) -> Bool { if case .unresponsive = error { true } else { false } }

    @Test func lengthsThatLie() throws {
        let long = try failure { [.data([0x80, 0xFF, 0xFF, 0xFF, 0xFF, 0, $0.sequence, 0, 0, 0])] }
        #expect(isMalformed(long))
        let tooMuch = try failure { [.data(ok($0).encoded + [1, 2, 3])] }
        #expect(isMalformed(tooMuch))
        let shortPacket = try failure { [.data(Array(ok($0, [UInt8](repeating: 1, count: 90)).encoded.prefix(30)))] }
        #expect(isMalformed(shortPacket))
        let halfHeader = try failure { _ in [.data([0x80, 2, 0])] }
        #expect(isMalformed(halfHeader))
        let noRest = try failure { [.data(Array(ok($0, [UInt8](repeating: 1, count: 90)).encoded.prefix(64)))] }
        expect(noRest, is: .timedOut("the reader's answer"))
        #expect(isMalformed(try failure { _ in [.data([])] + (0..<40).map { _ in .data([]) } }))
        #expect(isMalformed(try failure { [.data(ok($0, [0x90]).encoded)] }))
    }

    @Test func emptyPacketsAndFullPacketsAreNoMatter() throws {
        for size in [54, 55, 118, 119] {
            let data = [UInt8](repeating: 3, count: size - 2) + [0x90, 0]
            try expect(failure { [.data([]), .data(ok($0, data).encoded), .data([])] }, is: nil)
        }
    }

    @Test func repliesToOtherCommandsArePassedOverButNotWithoutEnd() throws {
        let late: (CCID.Command) -> ScriptedPipe.Step = { command in
            var reply = CCID.Reply(to: command, data: [0x6F, 0])
            reply.sequence &-= 1
            return .data(reply.encoded)
        }
        try expect(failure { [late($0), .data(ok($0).encoded)] }, is: nil)
        #expect(isMalformed(try failure { command in (0..<40).map { _ in late(command) } }))
        #expect(isMalformed(try failure { [.data(CCID.Reply(to: $0, as: .parameters).encoded)] }))
        #expect(
            isMalformed(try failure { [.data(CCID.Reply(.dataBlock, sequence: $0.sequence, status: 0xC0).encoded)] }))
    }

    @Test func timeExtensionsEnd() throws {
        let more: (CCID.Command) -> ScriptedPipe.Step = { .data(CCID.Reply(to: $0, .moreTime).encoded) }
        try expect(failure { [more($0), more($0), .data(ok($0).encoded)] }, is: nil)
        #expect(isUnresponsive(try failure { command in (0...10_001).map { _ in more(command) } }))
    }

    @Test func responsesInParts() throws {
        let pipe = ScriptedPipe.card { command in
            let parts: [UInt16: (UInt8, [UInt8])] = [0: (1, [1, 2]), 0x10: (2, [0x90, 0])]
            let (chain, data) = parts[command.level] ?? (0, [])
            return ScriptedPipe.reply(.init(to: command, choice: chain, data: data))
        }
        try expect(pipe.link().exchange(command, deadline: deadline), is: [1, 2, 0x90, 0])
        #expect(isMalformed(try failure { ScriptedPipe.reply(.init(to: $0, choice: 0x10, data: [0x90, 0])) }))
        #expect(isMalformed(try failure { ScriptedPipe.reply(.init(to: $0, choice: 7, data: [0x90, 0])) }))
        #expect(isMalformed(try failure { ScriptedPipe.reply(.init(to: $0, choice: 3)) }))
        let endless = [UInt8](repeating: 0, count: 9000)
        #expect(isMalformed(try failure { ScriptedPipe.reply(.init(to: $0, choice: 3, data: endless)) }))
    }

    @Test func commandsInParts() throws {
        let pipe = ScriptedPipe.card { command in
            let isLast = command.level == 0 || command.level == 2
            return ScriptedPipe.reply(
                .init(to: command, choice: isLast ? 0 : 0x10, data: isLast ? [0x90, 0] : []))
        }
        let long = [UInt8](repeating: 1, count: 700)
        try expect(pipe.link().exchange(long, deadline: deadline), is: [0x90, 0])
        let parts = pipe.sent.filter { $0.kind == .transfer }
        #expect(parts.map(\.level) == [1, 3, 2] && parts.flatMap(\.data) == long)
        #expect(parts.allSatisfy { $0.data.count <= 261 })
        #expect(isMalformed(try failureOfLong { ScriptedPipe.reply(.init(to: $0, choice: 0x10, data: [1])) }))
    }

    private func failureOfLong(_ transfer: @escaping (CCID.Command) -> [ScriptedPipe.Step]) throws -> LinkError? {
        let link = try ScriptedPipe.card(transfer).link()
        do {
            _ = try link.exchange([UInt8](repeating: 1, count: 300), deadline: deadline)
            return nil
        } catch { return error }
    }

    @Test func haltedEndpointsAreCleared() throws {
        let pipe = ScriptedPipe.card { [.fail(.stalled), .data(CCID.Reply(to: $0, data: [0x90, 0]).encoded)] }
        let link = try pipe.link()
        pipe.sendFailures = [.stalled, nil]
        try expect(link.exchange(command, deadline: deadline), is: [0x90, 0])
        #expect(pipe.cleared == [false, true] && pipe.sent.count { $0.kind == .transfer } == 1)
        pipe.sendFailures = [.stalled, .stalled]
        #expect(throws: LinkError.self) { try link.exchange(command, deadline: deadline) }
        #expect(isUnresponsive(try failure { _ in [.fail(.stalled), .fail(.stalled)] }))
    }

    @Test func afterAFailureTheCardIsResetFirst() throws {
        var isFirst = true
        let pipe = ScriptedPipe.card { command in
            defer { isFirst = false }
            return isFirst ? [] : ScriptedPipe.reply(.init(to: command, data: [0x90, 0]))
        }
        let link = try pipe.link()
        #expect(throws: LinkError.timedOut("the reader's answer")) { try link.exchange(command, deadline: deadline) }
        expect(pipe.requests, is: [UInt16(pipe.sent[1].sequence) << 8])
        #expect(
            pipe.sent.map(\.kind) == [.powerOn, .transfer, .abort] && pipe.sent[2].sequence == pipe.sent[1].sequence)
        #expect(throws: LinkError.reset) { try link.exchange(command, deadline: deadline) }
        #expect(try link.begin(deadline: deadline))
        try expect(link.exchange(command, deadline: deadline), is: [0x90, 0])
        expect(pipe.sent.suffix(3).map(\.kind), is: [.powerOff, .powerOn, .transfer])
    }

    @Test func cancellationStopsTheReader() throws {
        let cancellation = Cancellation()
        let pipe = ScriptedPipe.card { _ in
            cancellation.cancel()
            return []
        }
        let link = try pipe.link()
        let deadline = Deadline.after(.seconds(5), cancellation: cancellation)
        #expect(throws: LinkError.cancelled) { try link.exchange(command, deadline: deadline) }
        expect(pipe.sent.last?.kind, is: .abort)
    }

    @Test func aCancelledTaskStopsTheReader() async throws {
        let task = Task { [command] in
            let pipe = ScriptedPipe.card { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return []
            }
            let link = try pipe.link()
            let deadline = ServiceEnvironment(timeout: .seconds(60)).deadline()
            let failure = #expect(throws: LinkError.self) { try link.exchange(command, deadline: deadline) }
            return (failure, pipe.sent.last?.kind)
        }
        let (failure, last) = try await task.value
        #expect(failure == .cancelled && last == .abort)
    }

    @Test("unplugged at every transfer")
    func unplugged() throws {
        let gone = USBFailure.link(.removed)
        for index in 0..<4 {
            let pipe = ScriptedPipe.card { ScriptedPipe.reply(.init(to: $0, data: [0x90, 0])) }
            pipe.sendFailures = [USBFailure?](repeating: nil, count: index) + [gone]
            #expect(throws: LinkError.removed) {
                let link = try pipe.link()
                for _ in 0..<4 { _ = try link.exchange(command, deadline: deadline) }
            }
            if index == 0 { #expect(pipe.isClosed) }
        }
        try expect(failure { _ in [.fail(gone)] }, is: .removed)
        try expect(failure { _ in [.news([0x50, 0x02])] }, is: .removed)
        try expect(
            failure { [.news([0x50, 0x03]), .news([0x51, 0, 0, 1]), .news([]), .data(ok($0).encoded)] }, is: nil)
        try expect(failure { ScriptedPipe.reply(.init(to: $0, card: .absent, .failed, error: .mute)) }, is: .removed)
    }

    @Test func newsOfAnotherCardAreMinded() throws {
        var card = CCID.Reply.Card.active
        let pipe = ScriptedPipe { command in
            ScriptedPipe.reply(
                .init(to: command, card: card, data: command.kind == .powerOn ? ScriptedPipe.atr : []))
        }
        let link = try pipe.link()
        pipe.tell([0x50, 0x03])
        #expect(try !link.begin(deadline: deadline))
        pipe.tell([0x50, 0x03])
        card = .inactive
        #expect(throws: LinkError.removed) { try link.begin(deadline: deadline) }
        #expect(throws: LinkError.removed) { try link.exchange(command, deadline: deadline) }
    }

    @Test func cardsThatGetNoPower() throws {
        func failure(
            _ reply: @escaping (CCID.Command) -> CCID.Reply, _ features: CCID.Descriptor.Features = .voltage
        )
            -> LinkError?
        {
            let pipe = ScriptedPipe { ScriptedPipe.reply(reply($0)) }
            do {
                _ = try pipe.link(features.union(.extendedAPDU), voltages: 7)
                return nil
            } catch {
                #expect(pipe.isClosed)
                return error
            }
        }
        expect(failure { .init(to: $0, card: .absent, .failed, error: .mute) }, is: .noCard(reader: "A reader"))
        #expect(isUnresponsive(failure { .init(to: $0, card: .inactive, .failed, error: .mute) }))
        #expect(isUnresponsive(failure({ .init(to: $0, card: .inactive, .failed, error: .badATR) }, [])))
        #expect(isUnresponsive(failure { .init(to: $0, .failed, error: .slotBusy) }))
        #expect(throws: LinkError.self) { try ScriptedPipe.card { _ in [] }.link([]) }
    }

    @Test func aChosenVoltageIsUsed() throws {
        let pipe = ScriptedPipe.card { ScriptedPipe.reply(.init(to: $0, data: [0x90, 0])) }
        _ = try pipe.link(voltages: 7, voltage: .three)
        expect(pipe.sent.map(\.choice).first, is: CCID.Voltage.three.rawValue)
    }

    @Test func commandsThatTheReaderCannotTake() throws {
        let pipe = ScriptedPipe.card { ScriptedPipe.reply(.init(to: $0, data: [0x90, 0])) }
        let link = try pipe.link([.shortAPDU, .voltage])
        expect(link.identity.maxCommandLength, is: 261)
        #expect(throws: LinkError.self) { try link.exchange([UInt8](repeating: 0, count: 262), deadline: deadline) }
        #expect(throws: LinkError.self) { try link.exchange([], deadline: deadline) }
    }
}
