// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKFIDO
import YKInteraction
import YKProtocols
import YKTransport
import YKWire

/// Answers the requests of a far end with the key, one after the other.
final class NearAuthenticator: Sendable {
    private typealias Status = CTAPProtocol.Status

    private struct State {
        /// The number of assertions that can still be requested.
        var next: UInt64 = 0
        /// The number of times that the key was held or released.
        var holds = 0
        /// When the key was last held for a ceremony that the user had not agreed to.
        var unasked: ContinuousClock.Instant?
        var pace: Pace
    }

    private let end: NearEnd
    private let questions: NearQuestions
    private let state: Mutex<State>
    /// Whether the user is asked even for sites that are always allowed: a card in a reader has no button, so that nothing
    /// else shows that somebody is there.
    private let alwaysAsks: Bool

    init(_ end: NearEnd, alwaysAsks: Bool) {
        (self.end, self.alwaysAsks) = (end, alwaysAsks)
        questions = NearQuestions(end)
        state = Mutex(State(pace: Pace(burst: end.burst, pause: end.pace)))
    }

    /// Returns the answer to a message. When the task is cancelled, the question is withdrawn and the operation on the
    /// key cancelled.
    func answer(_ message: [UInt8], _ number: UInt32, _ service: FIDOService) async -> [UInt8] {
        await slowDown()
        switch end.rules.u2f(message) {
        case .answer(let answer)?: return answer
        case .request(let u2f)?: return await answer(u2f, number, service)
        case nil: break
        }
        let request: RemoteRequest
        do throws(RemoteRequest.Malformed) { request = try RemoteRequest(message) } catch {
            return refuse(nil, error.status, .malformed)
        }
        if case .next = request.action { return await next(service) }
        return await answer(request, number, service)
    }

    /// U2F: what cannot be signed is not asked for.
    private func answer(_ u2f: U2FRequest, _ number: UInt32, _ service: FIDOService) async -> [UInt8] {
        guard await service.profile.hasU2F else { return StatusWord.unknownInstruction.bytes }
        if u2f.action == .signIn {
            let known = try? await service.relay(u2f: u2f.checked, waitsForTouch: false)
            await service.rest()
            guard known == StatusWord.conditionsNotSatisfied.bytes else {
                return U2FRequest.answer(Status.noCredentials)
            }
        }
        let request = RemoteRequest(u2f: u2f, site: end.rules.site(of: u2f.application))
        let answer = await answer(request, number, service)
        return answer.count == 1 ? U2FRequest.answer(answer[0]) : answer
    }

    private func answer(_ request: RemoteRequest, _ number: UInt32, _ service: FIDOService) async -> [UInt8] {
        state.withLock { $0.next = 0 }
        switch end.rules.decision(on: request) {
        case .refuse(let status, let refusal): return refuse(request.ceremony, status, refusal)
        case .proceed(let asks):
            if let ceremony = request.ceremony, request.needsUser {
                let channel = end.channel
                await hold(service, for: request)
                let answer = await questions.answer(to: ceremony, asks: asks || alwaysAsks) {
                    channel.send(.touch(number))
                }
                guard answer == .agreed else {
                    await release(service)
                    return [answer == .declined ? Status.operationDenied : Status.keepaliveCancel]
                }
                end.rules.agreed(to: ceremony)
                state.withLock { $0.unasked = nil }
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
            report(request, request.status(of: answer))
            await release(service, after: holdTime(request))
            return answer.count <= CTAPHID.messageLimit ? answer : [Status.other]
        } catch {
            await release(service)
            if error.isCancellation || Task.isCancelled { return withdraw(request.ceremony) }
            if request.needsUser, let ceremony = request.ceremony { end.report(.failed(ceremony, error)) }
            if case .search = request.action { report(request, error.farStatus) }
            return [error.farStatus]
        }
    }

    private func report(_ request: RemoteRequest, _ status: UInt8) {
        if case .search(let search) = request.action { end.report(.searched(site: search.site, status: status)) }
        if request.needsUser, let ceremony = request.ceremony { end.report(.answered(ceremony, status: status)) }
    }

    private func exchange(
        _ action: RemoteRequest.Action, _ service: FIDOService
    ) async throws(FIDOError) -> [UInt8] {
        switch action {
        case .register(let ceremony): return try await service.relay(ceremony)
        case .signIn(let ceremony):
            let answer = try await service.relay(ceremony)
            if let chosen = try await chosen(ceremony.rpID, answer, service) { return chosen }
            let map = (try? CBOR(decoding: Array(answer.dropFirst())))?.map
            let count = map?[CTAPProtocol.GetAssertion.Reply.numberOfCredentials]?.unsigned ?? 1
            state.withLock { $0.next = count > 0 ? count - 1 : 0 }
            return answer
        case .select(let status):
            try await service.select()
            return [status]
        case .search(let search): return CredentialSearch.answer(try await service.exchange(raw: search.message))
        case .read(let message): return try await service.exchange(raw: message)
        case .answer(let answer): return answer
        case .u2f(let u2f): return try await service.relay(u2f: u2f.command, waitsForTouch: u2f.action != .check)
        case .next, .forbidden: return [Status.notAllowed]
        }
    }

    /// Lets the user choose one of several accounts; `nil` if there is only one, or the program chooses.
    private func chosen(
        _ site: String, _ answer: [UInt8], _ service: FIDOService
    ) async throws(FIDOError) -> [UInt8]? {
        guard end.rules.choosesAccount, var list = AssertionList(answer) else { return nil }
        for _ in 0..<list.missing {
            list.add(try await service.exchange(raw: [CTAPProtocol.Command.getNextAssertion]))
        }
        await release(service)
        let question = AccountQuestion(site: site, accounts: list.accounts)
        do throws(Declined) { return list.answer(try await end.person.answer(question)) } catch {
            return [error == .withdrawn ? Status.keepaliveCancel : Status.operationDenied]
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
            await release(service, after: state.withLock { $0.next > 0 } ? end.holdTime : nil)
            return answer
        } catch {
            await release(service)
            return [error.farStatus]
        }
    }

    // MARK: other programs

    /// How long the key is held after a request: while the user's ceremony has more to answer, and for a moment after the
    /// key agreement, on which the next message may rely. That nobody has agreed to, so it is not done often.
    private func holdTime(_ request: RemoteRequest) -> Duration? {
        guard case .read = request.action else { return state.withLock { $0.next > 0 } ? end.holdTime : nil }
        return state.withLock { state in
            if let last = state.unasked, last.duration(to: .now) < end.unaskedPause { return nil }
            state.unasked = .now
            return end.unaskedTime
        }
    }

    /// Keeps the key for a question about a secret, which relies on the key agreement. For other ceremonies other programs
    /// may use it until the user has answered.
    private func hold(_ service: FIDOService, for request: RemoteRequest) async {
        guard request.reliesOnKeyAgreement else { return await release(service) }
        state.withLock { $0.holds += 1 }
    }

    /// Lets other programs use the key: immediately, or once the far end does not continue its ceremony in time. No other
    /// request delays that.
    private func release(_ service: FIDOService, after time: Duration? = nil) async {
        let number = state.withLock { state in
            state.holds += 1
            return state.holds
        }
        guard let time else { return await service.rest() }
        Task(executorPreference: TaskThread.shared) { [self] in
            await Alarm.threads.sleep(time)
            if state.withLock({ $0.holds }) == number { await service.rest() }
        }
    }

    /// Delays the requests of a far end that sends too many.
    private func slowDown() async {
        let pause = state.withLock { $0.pace.count() }
        if let pause { await Alarm.threads.sleep(pause) }
    }
}

extension RemoteRequest {
    /// Whether a part of it is encrypted under the key agreement.
    fileprivate var reliesOnKeyAgreement: Bool {
        let extensions: CBOR? =
            switch action {
            case .register(let ceremony): ceremony.parameters[CTAPProtocol.MakeCredential.Request.extensions]
            case .signIn(let ceremony): ceremony.parameters[CTAPProtocol.GetAssertion.Request.extensions]
            default: nil
            }
        return ["hmac-secret", "hmac-secret-mc"].contains { extensions?.map?[.text($0)]?.map != nil }
    }

    /// Whether the user must be present.
    var needsUser: Bool {
        switch action {
        case .register, .signIn, .select: true
        case .u2f(let u2f): u2f.action == .register || u2f.action == .signIn
        case .search, .next, .read, .answer, .forbidden: false
        }
    }

    /// The CTAP2 status of an answer; a U2F command that failed lacked the user's presence.
    func status(of answer: [UInt8]) -> UInt8 {
        guard case .u2f = action else { return answer[0] }
        let isDone = answer.suffix(2) == StatusWord.ok.bytes[...]
        return isDone ? CTAPProtocol.Status.ok : CTAPProtocol.Status.userPresenceRequired
    }
}

/// The description of the key for programs at the far end: a CTAP 2.0 key that accepts no PIN but verifies its user
/// itself if the key has a PIN or a sensor. So programs request verification with the option `uv`, which is done at the
/// near end, and no PIN is typed at the far end. Nothing that identifies the individual key is passed on.
///
/// `makeCredUvNotRqd` is left out: for a key that has it and no PIN, Chromium requests no verification at registration,
/// even if the site requires it.
package enum PresentedInfo {
    /// The extensions of makeCredential and getAssertion that are passed on.
    static let creationExtensions = ["credProtect", "hmac-secret", "hmac-secret-mc", "credBlob"]
    static let assertionExtensions = ["hmac-secret", "credBlob"]
    /// The bytes that a proof adds to a message.
    private static let proofSize = 64

    private typealias Key = CTAPProtocol.GetInfo.Reply

    /// The answer to getInfo, with its status.
    ///
    /// - Parameter isLocal: Whether the programs are on this machine, where the model of the key is no secret.
    package static func answer(_ info: AuthenticatorInfo, isLocal: Bool = false) -> [UInt8] {
        let aaguid = isLocal ? info.map[Key.aaguid]?.bytes : nil
        let extensions = info.extensions.filter(creationExtensions.contains)
        var options: CBOR.Map = ["up": true]
        if info.option(.rk) == true { options["rk"] = true }
        if info.hasPIN || info.hasBuiltInUV { options["uv"] = true }
        var map: CBOR.Map = [
            Key.versions.cbor: ["FIDO_2_0"], Key.aaguid.cbor: .bytes(aaguid ?? [UInt8](repeating: 0, count: 16)),
            Key.options.cbor: .map(options), Key.transports.cbor: ["usb"],
        ]
        if !extensions.isEmpty { map[Key.extensions] = .array(extensions.map(CBOR.text)) }
        let size = info.maxMessageSize > 1024 + proofSize ? info.maxMessageSize - proofSize : info.maxMessageSize
        map[Key.maxMsgSize] = .unsigned(UInt64(min(size, CTAPHID.messageLimit)))
        if extensions.contains(where: { $0.hasPrefix("hmac-secret") }), !info.pinProtocols.isEmpty {
            map[Key.pinUvAuthProtocols] = .array(protocols(of: info).map(CBOR.unsigned))
        }
        map[Key.maxCredentialCountInList] = info.maxCredentialsInList.map(CBOR.unsigned)
        map[Key.maxCredentialIdLength] = info.maxCredentialIDLength.map(CBOR.unsigned)
        map[Key.algorithms] = info.map[Key.algorithms]
        if extensions.contains("credBlob") { map[Key.maxCredBlobLength] = info.map[Key.maxCredBlobLength] }
        return [CTAPProtocol.Status.ok] + CBOR.map(map).encoded
    }

    /// The protocols that encrypt the salts of secrets: the first one alone if the key has it, since CTAP 2.0 knows no other.
    ///
    /// Firefox 153 takes the first of the list, and names it in the request only if it has verified the user by a token. The
    /// key then reads the salts by protocol one and refuses them, and at its second attempt Firefox ends (authenticator-rs:
    /// "hmac-secret inputs from PRF already initialized").
    private static func protocols(of info: AuthenticatorInfo) -> [UInt64] {
        info.pinProtocols.contains(1) ? [1] : info.pinProtocols
    }
}
