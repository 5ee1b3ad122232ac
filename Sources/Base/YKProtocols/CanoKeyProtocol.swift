// SPDX-License-Identifier: Apache-2.0

public import YKWire

extension AID {
    /// CanoKey administration.
    public static let canokeyAdmin = AID(rawValue: [0xF0, 0x00, 0x00, 0x00, 0x00])
}

/// The administration application of CanoKey.
package enum CanoKeyProtocol: CardVocabulary {
    package static var aid: AID { .canokeyAdmin }
    package static let title = "CanoKey admin"
    package static let keyword = "canokey-admin"

    /// The instruction bytes.
    package enum Instruction {
        package static let verify: UInt8 = 0x20
        package static let changePIN: UInt8 = 0x21
        /// P1 0 reads the firmware version, 1 the product name.
        package static let readVersion: UInt8 = 0x31
        package static let readSerial: UInt8 = 0x32
        package static let configure: UInt8 = 0x40
        static let readFlashUsage: UInt8 = 0x41
        package static let readConfiguration: UInt8 = 0x42
        static let factoryReset: UInt8 = 0x50
    }

    package static let instructions: [UInt8: String] = [
        Instruction.verify: "VERIFY the administration PIN", Instruction.changePIN: "CHANGE the administration PIN",
        Instruction.readSerial: "GET serial", Instruction.configure: "CONFIGURE",
        Instruction.readFlashUsage: "GET flash usage", Instruction.readConfiguration: "GET configuration",
        Instruction.factoryReset: "FACTORY RESET",
    ]

    package static let carriers: [UInt8: UnselectedData] = [Instruction.changePIN: .hidden]

    package static func name(of command: APDU) -> String? {
        switch (command.ins, command.p1) {
        case (Instruction.readVersion, 0): "GET firmware version"
        case (Instruction.readVersion, 1): "GET hardware name"
        default: instructions[command.ins]
        }
    }

    package static func secrets(in command: APDU, data: [UInt8]) -> [Range<Int>] {
        command.ins == Instruction.changePIN ? SecretRuns.all(data) : []
    }

    package static func effect(of command: APDU) -> CommandEffect {
        [Instruction.readVersion, Instruction.readSerial].contains(command.ins) ? .read : .write(reply: nil)
    }
    package static func isOptional(_ command: APDU) -> Bool {
        [Instruction.readVersion, Instruction.readSerial].contains(command.ins)
    }
}
