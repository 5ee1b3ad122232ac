// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// The administration application of CanoKey.
package enum CanoKeyProtocol: CardVocabulary {
    package static var aid: AID { .canokeyAdmin }

    /// The instruction bytes.
    package enum Instruction {
        package static let verify: UInt8 = 0x20
        package static let changePIN: UInt8 = 0x21
        /// P1 0 reads the firmware version, 1 the product name.
        package static let readVersion: UInt8 = 0x31
        package static let readSerial: UInt8 = 0x32
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.changePIN ? SecretRuns.all(data) : []
    }

    package static func effect(of command: APDU) -> CommandEffect {
        [Instruction.readVersion, Instruction.readSerial].contains(command.ins) ? .read : .write(reply: nil)
    }
}
