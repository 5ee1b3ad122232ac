// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKCrypto
import YKInteraction
public import YKProtocols
import YKTransport
import YKUse
import YKWire

/// Answers the messages of a far end's reader with the card here, one after the other. Other programs here are locked out of
/// the card from the first use that the user agreed to until the reader cuts the power, and the card is reset then if a PIN
/// was verified. What nobody agreed to locks them out for a limited time (`CardHold`).
final class NearCard: Sendable {
    private struct State {
        var relay: CardRelay
        var pace: Pace
        var hold: CardHold
    }

    private let end: NearEnd
    private let pins: RemotePINs
    private let questions: NearQuestions
    private let state: Mutex<State>

    init(_ end: NearEnd, _ applications: [RemoteApplication], _ pins: RemotePINs) {
        (self.end, self.pins) = (end, pins)
        questions = NearQuestions(end)
        // A program that reads certificates in short commands sends hundreds.
        state = Mutex(
            State(
                relay: CardRelay(CardFilter(applications)), pace: Pace(burst: end.burst * 20, pause: end.pace / 10),
                hold: CardHold(longest: end.holdTime)))
    }

    /// Returns the answer to a message. When the task is cancelled, the question is withdrawn and the command given up.
    func answer(_ message: [UInt8], _ card: CardService) async -> [UInt8] {
        if let pause = state.withLock({ $0.pace.count() }) { try? await Task.sleep(for: pause) }
        switch state.withLock({ $0.relay.take(message) }) {
        case .answer(let bytes): return bytes
        case .powered:
            state.withLock { $0.hold.end(at: .now) }
            await card.rest()
            return ResponseAPDU(.ok).encoded
        case .command(let verdict):
            await limitHold(card)
            let response = verdict.neutral(await response(to: verdict, card))
            return state.withLock { $0.relay.reply(response) }
        }
    }

    /// Lets other programs use the card before the next command if it was held for long enough; it is selected again then.
    private func limitHold(_ card: CardService) async {
        if state.withLock({ $0.hold.isOver(at: .now) }) {
            state.withLock { $0.hold.end(at: .now) }
            await card.rest()
        }
        if let pause = state.withLock({ $0.hold.pause(at: .now) }) { try? await Task.sleep(for: pause) }
        guard let (number, time) = state.withLock({ $0.hold.begin(at: .now) }) else { return }
        Task { [self] in
            try? await Task.sleep(for: time)
            guard state.withLock({ $0.hold.isStill(number) }) else { return }
            state.withLock { $0.hold.end(at: .now) }
            await card.rest()
        }
    }

    /// The key was opened again: nothing is selected.
    func restart() {
        state.withLock { state in
            state.relay.end()
            state.hold.end(at: .now)
        }
    }

    private func response(to verdict: CardVerdict, _ card: CardService) async -> ResponseAPDU {
        switch verdict {
        case .select(let application): return await select(application, card)
        case .read(let command): return await send(command, card)
        case .absent(let status): return ResponseAPDU(status)
        case .refuse(let status, let name):
            end.report(.refused(nil, .command(name)))
            return ResponseAPDU(status)
        case .use(let command, let use):
            return await asking(use) {
                let response = await self.send(command, card)
                self.end.report(.used(use, response.status))
                return response
            }
        case .verify(let pin): return await asking(.unlock(pin.application)) { await self.verify(pin, card) }
        }
    }

    /// Asks the user, and goes on after a yes.
    private func asking(_ use: CardUse, _ body: () async -> ResponseAPDU) async -> ResponseAPDU {
        guard await questions.answer(to: .card(use)) == .agreed else {
            return ResponseAPDU(.conditionsNotSatisfied)
        }
        state.withLock { $0.hold.agree() }
        return await body()
    }

    // MARK: the card

    private func select(_ application: RemoteApplication, _ card: CardService) async -> ResponseAPDU {
        let response: ResponseAPDU
        do throws(CardError) {
            response = ResponseAPDU(.ok, data: try await card.select(application.aid))
        } catch { response = Self.response(for: error) }
        let isNew = state.withLock { state in
            defer { state.relay.select(response.status == .ok ? application : nil) }
            return state.relay.selected != application
        }
        if isNew, response.status == .ok { end.report(.opened(application)) }
        return response
    }

    private func send(_ command: APDU, _ card: CardService) async -> ResponseAPDU {
        do throws(CardError) { return try await card.send(command) } catch { return Self.response(for: error) }
    }

    /// Verifies the PIN that the user enters. The far end does not learn that it was wrong.
    private func verify(_ pin: RemotePIN, _ card: CardService) async -> ResponseAPDU {
        let kind = pin.kind
        do throws(CardError) {
            let tries = try await card.perform { channel throws(CardError) in try pin.tries(channel) }
            guard let secret = await pins.pin(kind, tries) else {
                throw .status(.securityStatusNotSatisfied, during: "")
            }
            let status = try await card.perform { channel throws(CardError) in try pin.verify(secret, channel) }
            guard status != .ok else {
                pins.outcome(kind, nil)
                end.report(.used(.unlock(pin.application), .ok))
                return ResponseAPDU(.ok)
            }
            if pin.isRefusal(status) {
                let left = status == .authenticationBlocked ? 0 : status.triesLeft
                pins.outcome(kind, RefusedCredential(kind, triesLeft: left))
            }
            end.report(.used(.unlock(pin.application), status))
            return ResponseAPDU(.securityStatusNotSatisfied)
        } catch { return Self.response(for: error) }
    }

    private static func response(for error: CardError) -> ResponseAPDU {
        switch error {
        case .appletMissing: ResponseAPDU(.notFound)
        case .status(let status, _): ResponseAPDU(status)
        case .tooLong: ResponseAPDU(.wrongLength)
        case .link(.cancelled), .link(.timedOut): ResponseAPDU(.conditionsNotSatisfied)
        default: ResponseAPDU(.aborted)
        }
    }
}

/// Where the PINs for a far end come from: they are entered at the near end.
public struct RemotePINs: Sendable {
    /// Returns a PIN for one use; `nil` if there is none. Its parameters are its kind and the tries that are left.
    let pin: @Sendable (CredentialKind, Int?) async -> SharedSecret?
    /// Takes note of what the card answered: `nil` if it accepted the PIN.
    let outcome: @Sendable (CredentialKind, RefusedCredential?) -> Void

    /// Creates a source of PINs.
    ///
    /// - Parameters:
    ///   - pin: Returns a PIN for one use, in UTF-8 as typed; `nil` if there is none. It gets the tries that are left.
    ///   - outcome: Takes note of a refusal, or of `nil` for a PIN that was accepted.
    public init(
        pin: @escaping @Sendable (CredentialKind, Int?) async -> SharedSecret?,
        outcome: @escaping @Sendable (CredentialKind, RefusedCredential?) -> Void
    ) {
        (self.pin, self.outcome) = (pin, outcome)
    }
}
