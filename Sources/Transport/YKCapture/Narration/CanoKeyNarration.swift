// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// Describes CanoKey's administration application.
enum CanoKeyNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch (command.ins, command.p1) {
        case (0x20, _): ("VERIFY the administration PIN", GenericNarration.secret(command))
        case (0x21, _): ("CHANGE the administration PIN", GenericNarration.secret(command))
        case (0x31, 0x00): ("GET firmware version", [])
        case (0x31, 0x01): ("GET hardware name", [])
        case (0x32, _): ("GET serial", [])
        case (0x40, _): ("CONFIGURE", ["parameters \(Hex.encode([command.p1, command.p2]))"])
        case (0x41, _): ("GET flash usage", [])
        case (0x42, _): ("GET configuration", [])
        case (0x50, _): ("FACTORY RESET", [])
        default: nil
        }
    }

    static func reply(_ data: MaskedBytes, to command: NarratedCommand) -> [String] {
        switch command.ins {
        case _ where data.isEmpty: []
        case 0x31: [data.text]
        case 0x32: ["serial \(data.hex)"]
        default: ["reply \(data.hex)"]
        }
    }
}
