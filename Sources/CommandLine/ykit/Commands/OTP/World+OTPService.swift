// SPDX-License-Identifier: Apache-2.0

import YKKeys
import YKOTP
import YKTransport

extension World {
    /// Opens the OTP application of the selected key; reports when it waits for a touch.
    func otp() async throws -> OTPService {
        let touch = { @Sendable [terminal] in
            guard (try? await Task.sleep(for: TouchReason.delay)) != nil else { return }
            terminal.say(TouchPrompt.usual)
        }
        return try await OTPService.open(try choosingKey { try keys.otpLink() }, touch: touch)
    }

    /// Asks before overwriting a slot that is or may be in use.
    func confirm(writing slot: OTPSlot, of service: OTPService, force: Bool) async throws {
        guard !force, plan == nil, await service.state(of: slot).isProgrammed != false else { return }
        try Prompt.confirm("slot \(slot.rawValue) is in use; what is in it will be lost. go on?")
    }
}
