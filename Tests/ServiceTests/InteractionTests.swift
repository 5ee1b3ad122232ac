// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing
import YKCrypto
import YKFIDO
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// People are asked asynchronously, and while they are, nobody else gets onto the key.
@Suite struct InteractionTests {
    private static let pin = "12345"

    private func key() throws -> VirtualKey {
        try VirtualKey.new()
    }

    private func request(_ number: UInt8) -> RegistrationRequest {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: number, count: 32), relyingParty: RelyingParty(id: "example.com"),
            user: FIDOUser(id: [number], name: "user \(number)"))
        request.userVerification = .required
        return request
    }

    @Test func aHundredCallersMeetAPrompt() async throws {
        let sent = Sent()
        let asked = Mutex(0)
        let disturbed = Mutex(0)
        let open = Mutex(0)
        let interaction = FIDOInteraction(pin: { _ in
            let others = open.withLock { open in
                open += 1
                return open - 1
            }
            let before = sent.frames.count
            for _ in 0..<50 { await Task.yield() }  // A dialog: the thread of the service is left, and comes back.
            if sent.frames.count != before || others > 0 { disturbed.withLock { $0 += 1 } }
            asked.withLock { $0 += 1 }
            open.withLock { $0 -= 1 }
            return SharedSecret(Secret(utf8: Self.pin))
        })
        let channel = CardChannel(link: HeardCard(try key().link(), sent))
        let service = try await FIDOService.open(card: channel, interaction: interaction)
        try await service.setPIN(SharedSecret(Secret(utf8: Self.pin)))
        let made = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in UInt8(0)..<100 {
                group.addTask {
                    if number % 2 == 1 { return try await service.pinRetries().count }
                    return try await service.register(request(number)).response.authenticatorData.rpIDHash.count
                }
            }
            return try await group.reduce(into: 0) { count, _ in count += 1 }
        }
        expect(made, is: 100)
        expect(asked.withLock { $0 }, is: 50, "each registration needs a token of its own")
        expect(disturbed.withLock { $0 }, is: 0)
    }

    @Test func aPromptIsCancelledWithItsOperation() async throws {
        let (shown, show) = AsyncStream.makeStream(of: Void.self)
        let wasCancelled = Signal()
        let interaction = FIDOInteraction(pin: { _ in
            show.yield()
            while !Task.isCancelled { await Task.yield() }
            wasCancelled.send()
            return nil
        })
        let service = try await FIDOService.open(card: CardChannel(link: try key().link()), interaction: interaction)
        try await service.setPIN(SharedSecret(Secret(utf8: Self.pin)))
        let task = Task { _ = try await service.register(request(1)) }
        for await _ in shown { break }
        task.cancel()
        await #expect(throws: FIDOError.ctap(.link(.device(.cancelled)))) { try await task.value }
        await wasCancelled.wait()
        try await expect(service.pinRetries().count, is: 8, "no try was spent, and the key is free")
    }

    @Test func theStateCanBeWatched() async throws {
        let service = try await OATHService.open(CardChannel(link: try key().link()))
        let states = service.states
        _ = try await service.accounts()
        await service.rest()
        expect(service.state, is: .resting)
        _ = try await service.accounts()
        expect(service.state, is: .open)
        let before = await service.statistics
        await service.close()
        await #expect(throws: OATHError.card(.link(.closed))) { try await service.accounts() }
        await expect(service.statistics, is: before)
        var seen: [ServiceState] = []
        for await state in states { seen.append(state) }
        expect(seen, is: [.open, .resting, .open, .resting, .closed(nil)], "a card is released before it is closed")
        var later: [ServiceState] = []
        for await state in service.states { later.append(state) }
        expect(later, is: [.closed(nil)])
    }

    @Test func aKeyThatIsRemovedClosesItsService() async throws {
        let plan = try FaultPlan(parsing: "at 3: remove")
        let service = try await OATHService.open(CardChannel(link: FaultyLink(try key().link(), plan: plan)))
        let states = service.states
        await #expect(throws: OATHError.card(.link(.removed))) {
            for _ in 0..<5 { _ = try await service.accounts() }
        }
        var seen: [ServiceState] = []
        for await state in states { seen.append(state) }
        expect(seen.last, is: .closed(.removed))
        await #expect(throws: OATHError.card(.link(.removed))) { try await service.accounts() }
    }
}
