// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
package import YKTransport
import YKWire

/// What a key waits for.
public enum TouchReason: Sendable, Hashable {
    /// A touch.
    case touch
    /// A touch, or the placement of a card on its reader.
    case placement
    /// An enrolled fingerprint.
    case fingerprint
    /// A finger to enroll.
    case enrolment

    /// How long to wait before prompting the user: an immediate touch needs no prompt.
    public static let delay = Duration.milliseconds(300)
}

/// The notice that a key waits for its user, given after ``TouchReason/delay`` unless the wait is over before. Its end
/// is reported after its beginning, or neither is.
package final class TouchNotice: Sendable {
    private enum Stage { case waiting, given, over(wasGiven: Bool) }

    private final class State: Sendable {
        let stage = Mutex(Stage.waiting)
    }

    private let state: State
    private let cancel: Alarm.Cancel
    private let end: @Sendable () -> Void

    /// Begins the wait; neither closure may block.
    package init(_ alarm: Alarm, begin: @escaping @Sendable () -> Void, end: @escaping @Sendable () -> Void) {
        let state = State()
        self.state = state
        self.end = end
        cancel = alarm.set(TouchReason.delay) {
            state.stage.withLock { stage in
                guard case .waiting = stage else { return }
                stage = .given
                begin()
            }
        }
    }

    /// Ends the wait.
    package func finish() {
        cancel()
        state.stage.withLock { stage in
            switch stage {
            case .waiting: stage = .over(wasGiven: false)
            case .given:
                stage = .over(wasGiven: true)
                end()
            case .over: break
            }
        }
    }

    /// Whether the notice was given.
    package var isGiven: Bool {
        state.stage.withLock { stage in
            switch stage {
            case .waiting: false
            case .given: true
            case .over(let wasGiven): wasGiven
            }
        }
    }
}

/// A FIDO link that reports when the key waits for its user.
///
/// Over HID the key sends keepalives. A card may be silent while it waits, so there the commands that need a touch are
/// recognized by their content. U2F does not wait: it refuses until the key has been touched, and the host asks again.
final class PromptingLink: ForwardingFIDOLink {
    let link: any FIDOLink
    private let alarm: Alarm
    private let prompt: @Sendable (TouchReason) -> Void
    private let end: @Sendable () -> Void
    /// Since when U2F commands have been refused, and whether the user was told.
    private var polling: (since: ContinuousClock.Instant, isShown: Bool)?

    init(
        _ link: any FIDOLink, _ alarm: Alarm, _ prompt: @escaping @Sendable (TouchReason) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.link = link
        self.alarm = alarm
        self.prompt = prompt
        self.end = end
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        if command == .msg {
            let reply: [UInt8]
            do { reply = try link.call(command, payload, deadline: deadline, keepalive: keepalive) } catch {
                endPolling()
                throw error
            }
            note(reply, to: payload)
            return reply
        }
        let reason = command == .cbor ? CTAPProtocol.waiting(for: payload).map(TouchReason.init) : nil
        if profile.carrier == .card, let reason {
            let notice = TouchNotice(alarm, begin: { [prompt] in prompt(reason) }, end: end)
            defer { notice.finish() }
            do { return try link.call(command, payload, deadline: deadline, keepalive: keepalive) } catch {
                guard case .device(.timedOut) = error else { throw error }
                throw .device(.timedOut("waiting for a touch"))
            }
        }
        let start = ContinuousClock.now
        var isPrompted = false
        defer { if isPrompted { end() } }
        return try link.call(command, payload, deadline: deadline) { status in
            if status == .touchNeeded, !isPrompted, start.duration(to: .now) >= TouchReason.delay {
                isPrompted = true
                prompt(reason ?? .touch)
            }
            keepalive(status)
        }
    }

    func rest() {
        endPolling()
        link.rest()
    }

    func close() {
        endPolling()
        link.close()
    }

    /// Prompts once U2F commands have been refused for a while for want of a touch, and ends that with another answer.
    private func note(_ reply: [UInt8], to payload: [UInt8]) {
        let isRefused = reply == ResponseAPDU(.conditionsNotSatisfied).encoded
        guard isRefused, let command = try? APDU(decoding: payload), FIDOProtocol.effect(of: command) != .read else {
            return endPolling()
        }
        let since = polling?.since ?? .now
        let isShown = polling?.isShown ?? false
        polling = (since, isShown || since.duration(to: .now) >= TouchReason.delay)
        if !isShown, polling?.isShown == true { prompt(profile.carrier == .card ? .placement : .touch) }
    }

    private func endPolling() {
        if polling?.isShown == true { end() }
        polling = nil
    }
}

extension TouchReason {
    fileprivate init(_ action: UserAction) {
        switch action {
        case .touch: self = .touch
        case .fingerprint: self = .fingerprint
        case .enrolment: self = .enrolment
        }
    }
}
