// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKFIDO
import YKInteraction
import YKProtocols
import YKWire

/// Answers the requests of a far end with the key, one after the other.
final class NearAuthenticator: Sendable {
    private typealias Status = CTAPProtocol.Status

    private struct State {
        /// The number of assertions that can still be requested.
        var next: UInt64 = 0
        /// The number of requests.
        var requests = 0
        var pace: Pace
    }

    private let end: NearEnd
    private let questions: NearQuestions
    private let state: Mutex<State>

    init(_ end: NearEnd) {
        self.end = end
        questions = NearQuestions(end)
        state = Mutex(State(pace: Pace(burst: end.burst, pause: end.pace)))
    }

    /// Returns the answer to a message. When the task is cancelled, the question is withdrawn and the operation on the
    /// key cancelled.
    func answer(_ message: [UInt8], _ number: UInt32, _ service: FIDOService) async -> [UInt8] {
        await slowDown()
        let request: RemoteRequest
        do throws(RemoteRequest.Malformed) { request = try RemoteRequest(message) } catch {
            return refuse(nil, error.status, .malformed)
        }
        if case .next = request.action { return await next(service) }
        state.withLock { $0.next = 0 }
        switch end.policy.decision(on: request) {
        case .refuse(let status, let refusal): return refuse(request.ceremony, status, refusal)
        case .proceed(let asks):
            if let ceremony = request.ceremony, request.needsUser {
                let channel = end.channel
                switch await questions.answer(to: ceremony, asks: asks, begun: { channel.send(.touch(number)) }) {
                case .agreed: break
                case .declined: return [Status.operationDenied]
                case .withdrawn: return [Status.keepaliveCancel]
                }
            }
            return await perform(request, service)
        }
    }

    private func refuse(_ ceremony: Ceremony?, _ status: UInt8, _ refusal: RemotePolicy.Refusal) -> [UInt8] {
        end.report(.refused(ceremony, refusal))
        return [status]
    }

    private func withdraw(_ ceremony: Ceremony?) -> [UInt8] {
        if let ceremony { end.report(.withdrawn(ceremony)) }
        return [Status.keepaliveCancel]
    }

    // MARK: the key

    private func perform(_ request: RemoteRequest, _ service: FIDOService) async -> [UInt8] {
        do throws(FIDOError) {
            let answer = try await exchange(request.action, service)
            if let ceremony = request.ceremony, request.needsUser {
                end.report(.answered(ceremony, status: answer[0]))
            }
            let isContinued = if case .read = request.action { true } else { state.withLock { $0.next > 0 } }
            await release(service, holds: isContinued)
            return answer.count <= CTAPHID.messageLimit ? answer : [Status.other]
        } catch {
            await release(service, holds: false)
            if error.isCancellation { return withdraw(request.ceremony) }
            if let ceremony = request.ceremony, request.needsUser { end.report(.failed(ceremony, error)) }
            return [error.farStatus]
        }
    }

    private func exchange(
        _ action: RemoteRequest.Action, _ service: FIDOService
    ) async throws(FIDOError) -> [UInt8] {
        switch action {
        case .register(let ceremony): return try await service.relay(ceremony)
        case .signIn(let ceremony):
            let answer = try await service.relay(ceremony)
            let map = (try? CBOR(decoding: Array(answer.dropFirst())))?.map
            let count = map?[CTAPProtocol.GetAssertion.Reply.numberOfCredentials]?.unsigned ?? 1
            state.withLock { $0.next = count > 0 ? count - 1 : 0 }
            return answer
        case .select(let status):
            try await service.select()
            return [status]
        case .probe(_, let message), .read(let message): return try await service.exchange(raw: message)
        case .next, .forbidden: return [Status.notAllowed]
        }
    }

    private func next(_ service: FIDOService) async -> [UInt8] {
        let isThere = state.withLock { state in
            defer { state.next = state.next > 0 ? state.next - 1 : 0 }
            return state.next > 0
        }
        guard isThere else { return refuse(nil, Status.notAllowed, .nothingNext) }
        do throws(FIDOError) {
            let answer = try await service.exchange(raw: [CTAPProtocol.Command.getNextAssertion])
            await release(service, holds: state.withLock { $0.next > 0 })
            return answer
        } catch {
            await release(service, holds: false)
            return [error.farStatus]
        }
    }

    /// Lets other programs use the key: immediately, or once the far end does not continue its ceremony in time.
    private func release(_ service: FIDOService, holds: Bool) async {
        guard holds else { return await service.rest() }
        let number = state.withLock { $0.requests }
        Task { [self, time = end.holdTime] in
            try? await Task.sleep(for: time)
            if state.withLock({ $0.requests }) == number { await service.rest() }
        }
    }

    /// Delays the requests of a far end that sends too many.
    private func slowDown() async {
        let pause = state.withLock { state in
            state.requests += 1
            return state.pace.count()
        }
        if let pause { try? await Task.sleep(for: pause) }
    }
}

extension RemoteRequest {
    /// Whether the user must be present.
    var needsUser: Bool {
        switch action {
        case .register, .signIn, .select: true
        case .probe, .next, .read, .forbidden: false
        }
    }
}
