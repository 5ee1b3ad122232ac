// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The management application: reports the key's identity and capabilities, and enables and disables applications.
struct ManagementApplet: Applet {
    static let aid = AID.management

    private typealias Instruction = ManagementProtocol.Instruction

    mutating func select(_ key: inout VirtualKeyState, _ inputs: VirtualInputs) -> [UInt8] {
        Array("Virtual mgr - FW version \(key.profile.version)".utf8)
    }

    /// READ CONFIG, WRITE CONFIG, RESET DEVICE, SET MODE (which a NEO expects in its OTP application), and ECHO, which
    /// returns its data; ykman's device tests exercise secure channels with it.
    mutating func process(
        _ command: APDU, _ key: inout VirtualKeyState, _ inputs: VirtualInputs
    ) throws(Refusal) -> [UInt8] {
        switch (command.ins, command.p1) {
        case (Instruction.readConfig, _) where key.profile.version >= FirmwareVersion(4, 1, 0):
            guard let page = key.managementPage(command.p1) else { throw .status(.wrongParameters) }
            return page
        case (Instruction.echo, 0) where key.profile.version.major >= 5: return command.data
        case (Instruction.writeConfig, 0): try key.writeManagement(command.data)
        case (Instruction.resetDevice, 0): try key.resetDevice()
        case (Instruction.setMode, ManagementProtocol.mode) where key.profile.version.major >= 4:
            try key.setMode(command.data)
        default: throw .status(.unknownInstruction)
        }
        return []
    }
}
