// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKOTP
import YKTransport

extension World {
    /// The OTP application of the key that is meant; the person is told when it waits for a touch.
    func otp() async throws -> OTPService {
        let notice = TouchNotice(terminal)
        return try await OTPService.open(try otpLink()) { notice.waiting() }
    }

    private func otpLink() throws -> sending any OTPLink {
        switch try openOTP() {
        case .card(let channel): return CardOTPLink(channel)
        case .reports(let device):
            guard let plan else { return HIDOTPLink(device, environment: environment) }
            return PlanningOTPLink(HIDOTPLink(device, environment: environment), plan: plan)
        }
    }

    /// Asks before a slot that is in use, or may be, is written.
    func confirm(writing slot: OTPSlot, of service: OTPService, force: Bool) async throws {
        guard !force, plan == nil, await service.state(of: slot).isProgrammed != false else { return }
        try Prompt.confirm("slot \(slot.rawValue) is in use; what is in it will be lost. go on?")
    }
}

/// Tells the person that a key waits for a touch, once it has for a while.
private final class TouchNotice: Sendable {
    private let terminal: Terminal
    private let state = Mutex<(since: ContinuousClock.Instant?, isSaid: Bool)>((nil, false))

    init(_ terminal: Terminal) { self.terminal = terminal }

    func waiting() {
        let isNew = state.withLock { state in
            let since = state.since ?? .now
            state.since = since
            guard !state.isSaid, since.duration(to: .now) >= PromptingLink.patience else { return false }
            state.isSaid = true
            return true
        }
        if isNew { terminal.say(TouchPrompt.usual) }
    }
}
