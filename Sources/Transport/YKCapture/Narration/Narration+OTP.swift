// SPDX-License-Identifier: Apache-2.0

import YKTransport
package import YKWire

extension Narration {
    /// A command to the OTP application in words, whatever carries it, with its reply when there is one; secrets are left
    /// out.
    package static func slot(_ command: OTPCommand, _ payload: [UInt8], reply: [UInt8]?) -> Narration {
        let isOpen = [.serial, .deviceInfo, .fipsMode, .swap].contains(command)
        let secret = isOpen || payload.isEmpty ? [] : [Capture.Event.Mask(offset: 0, length: payload.count)]
        var details = OTPNarration.payload(MaskedBytes(payload, masks: secret), of: command)
        if let reply, command != .challengeHMAC1, command != .challengeHMAC2 {
            details += OTPNarration.reply(MaskedBytes(reply), to: command)
        }
        return Narration("OTP \(OTPNarration.slot(command.rawValue))", details: details, application: AID.otp.name)
    }
}
