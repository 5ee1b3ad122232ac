// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// A FIDO link that reports when the key waits for its user.
///
/// Over HID the key sends keepalives. A card may be silent while it waits, so there the commands that need a touch are
/// recognized by their content.
final class PromptingLink: ForwardingFIDOLink {
    let link: any FIDOLink
    private let alarm: Alarm
    private let prompt: @Sendable (TouchReason) -> Void
    private let end: @Sendable () -> Void

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
