// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
package import YKWire

/// RESET DEVICE (Yubico management interface, INS 1F): resets all applications and their shared PIN, on keys with a
/// fingerprint sensor and more than FIDO.
package struct ResetDevice: CardCommand {
    package static let name = "RESET DEVICE"

    package init() {}

    package var apdu: APDU { APDU(ins: ManagementProtocol.Instruction.resetDevice, le: .none) }
}
