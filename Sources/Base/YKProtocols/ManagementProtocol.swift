// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Yubico's device management.
package enum ManagementProtocol: CardVocabulary {
    package static var aid: AID { .management }

    /// The instruction bytes.
    package enum Instruction {
        package static let setMode: UInt8 = 0x16
        package static let writeConfig: UInt8 = 0x1C
        package static let readConfig: UInt8 = 0x1D
        package static let resetDevice: UInt8 = 0x1F
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.writeConfig ? lockCodes(data) : []
    }

    /// The lock codes (0A new, 0B current) of a configuration: a length byte, then data objects.
    package static func lockCodes(_ data: [UInt8]) -> [Range<Int>] {
        SecretRuns.values(of: [0x0A, 0x0B], in: data, from: 1)
    }

    package static func effect(of command: APDU) -> CommandEffect {
        command.ins == Instruction.readConfig ? .read : .done
    }
}
