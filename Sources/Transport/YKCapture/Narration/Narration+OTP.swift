// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

extension Narration {
    /// Describes a command to the OTP application and its reply, if any, independent of the transport; secrets are
    /// omitted.
    package static func slot(_ command: OTPCommand, _ payload: [UInt8], reply: [UInt8]?) -> Narration {
        let isOpen = OTPProtocol.openCommands.contains(command)
        let secret = isOpen || payload.isEmpty ? [] : [Capture.Event.Mask(offset: 0, length: payload.count)]
        var details = OTPNarration.payload(MaskedBytes(payload, masks: secret), of: command)
        if let reply, command != .challengeHMAC1, command != .challengeHMAC2 {
            details += OTPNarration.reply(MaskedBytes(reply), to: command)
        }
        return Narration("OTP \(OTPProtocol.name(of: command))", details: details, application: OTPProtocol.title)
    }
}
