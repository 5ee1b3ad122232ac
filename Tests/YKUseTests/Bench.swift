// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO
import YKInteraction
import YKPIV
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key that is touched at once.
struct Bench {
    let key: VirtualKey
    private let environment: ServiceEnvironment

    init() throws {
        let random = SystemRandom()
        key = VirtualKey(
            try .new(DeviceProfile(version: FirmwareVersion(5, 7, 1), serial: 4711), random: random),
            world: VirtualWorld(random: random, touch: { _ in .touched }))
        environment = ServiceEnvironment()
    }

    func piv() async throws -> PIVService {
        try await PIVService.open(CardChannel(link: key.link(), environment: environment))
    }

    func fido(_ interaction: FIDOInteraction = FIDOInteraction()) async throws -> FIDOService {
        try await FIDOService.open(
            card: CardChannel(link: key.link(), environment: environment), interaction: interaction)
    }

    /// A key in a slot, made with the default management key.
    func makeKey(_ slot: PIVSlot, pin: PINPolicy = .once, touch: TouchPolicy = .never) async throws {
        let service = try await piv()
        try await service.authenticate(with: .defaultKey())
        _ = try await service.generateKey(slot, .p256, policies: KeyPolicies(pin: pin, touch: touch))
        await service.close()
    }
}

/// A person who gives these answers in turn, and then declines; and who confirms, or does not.
final class Person: CredentialPrompt, UserInteraction {
    private struct State {
        var answers: [String]
        var requests: [CredentialRequest] = []
        var news: [String] = []
        var questions: [String] = []
        var touches: [ExpectedTouch] = []
    }

    private let state: Mutex<State>
    private let agrees: Bool
    let isThere = true

    init(_ answers: String..., agrees: Bool = true) {
        state = Mutex(State(answers: answers))
        self.agrees = agrees
    }

    var requests: [CredentialRequest] { state.withLock { $0.requests } }
    var news: [String] { state.withLock { $0.news } }
    var questions: [String] { state.withLock { $0.questions } }
    var touches: [ExpectedTouch] { state.withLock { $0.touches } }

    nonisolated(nonsending) func secret(_ request: CredentialRequest) async throws -> SharedSecret? {
        let answer = state.withLock { state -> String? in
            state.requests.append(request)
            return state.answers.isEmpty ? nil : state.answers.removeFirst()
        }
        guard let answer else { throw Declined() }
        return SharedSecret(Secret(utf8: answer))
    }

    func tell(_ news: any UserNews) { state.withLock { $0.news.append("\(news)") } }

    nonisolated(nonsending) func confirm(_ question: any UserConfirmation) async throws {
        state.withLock { $0.questions.append("\(question)") }
        if !agrees { throw Declined() }
    }

    func expectTouch(_ touch: ExpectedTouch) -> any PendingTouch {
        state.withLock { $0.touches.append(touch) }
        return Wait()
    }

    private struct Wait: PendingTouch {
        let isShown = true
        func end() {}
    }
}
