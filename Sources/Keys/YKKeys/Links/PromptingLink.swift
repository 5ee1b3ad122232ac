// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKProtocols
import YKTransport
import YKWire

/// What a FIDO application waits for.
public enum TouchReason: Sendable, Hashable {
    /// A touch.
    case touch
    /// An enrolled fingerprint.
    case fingerprint
    /// A finger to enroll.
    case enrolment

    /// How long to wait before prompting the user: an immediate touch needs no prompt.
    public static let delay = Duration.milliseconds(300)
}

/// A FIDO link that reports when the key waits for its user.
///
/// Over HID the key sends keepalives. A card may be silent while it waits, so there the commands that need a touch are
/// recognized by their content.
final class PromptingLink: ForwardingFIDOLink {
    let link: any FIDOLink
    private let prompt: @Sendable (TouchReason) -> Void
    private let end: @Sendable () -> Void

    init(
        _ link: any FIDOLink, _ prompt: @escaping @Sendable (TouchReason) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.link = link
        self.prompt = prompt
        self.end = end
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        let reason = command == .cbor ? CTAPProtocol.waiting(for: payload).map(TouchReason.init) : nil
        if profile.carrier == .card, let reason {
            let wait = CardWait { [prompt] in prompt(reason) }
            defer { wait.finish(end) }
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

/// The wait of a card: the end is reported after the beginning, or neither is.
///
/// It has a thread of its own, since a task that sleeps would start three: Swift's pool, its manager and its timer.
private final class CardWait: Sendable {
    private enum Stage { case waiting, told, over }

    private let stage = Mutex(Stage.waiting)
    private let ended = Semaphore()

    /// Calls `tell` after ``TouchReason/delay`` unless the wait ends before.
    init(_ tell: @escaping @Sendable () -> Void) {
        _ = SystemThread.start { [self] in
            if !ended.wait(milliseconds: Deadline.after(TouchReason.delay).milliseconds()) { begin(tell) }
        }
    }

    private func begin(_ tell: () -> Void) {
        stage.withLock { stage in
            guard stage == .waiting else { return }
            stage = .told
            tell()
        }
    }

    func finish(_ tell: () -> Void) {
        ended.post()
        stage.withLock { stage in
            if stage == .told { tell() }
            stage = .over
        }
    }
}
