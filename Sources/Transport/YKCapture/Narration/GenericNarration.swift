// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// Describes instructions that have the same meaning in every application (ISO 7816-4 §11).
enum GenericNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        switch command.ins {
        case ISO7816.select: return ("SELECT file \(command.data.hex)", [])
        case ISO7816.readBinary: return ("READ BINARY from \(command.parameters)", [])
        case ISO7816.getData, ISO7816.getDataExtended:
            return ("GET DATA \(Hex.encode([command.p1, command.p2]))", data(command))
        case ISO7816.verify: return ("VERIFY of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.changeReferenceData:
            return ("CHANGE REFERENCE DATA of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.resetRetryCounter:
            return ("RESET RETRY COUNTER of \(Hex.encode([command.p2]))", secret(command))
        case ISO7816.getChallenge: return ("GET CHALLENGE", [])
        default: return nil
        }
    }

    static func secret(_ command: NarratedCommand) -> [String] {
        command.data.isEmpty ? [] : ["value \(command.data.hex)"]
    }

    static func data(_ command: NarratedCommand) -> [String] {
        command.data.isEmpty ? [] : ["data \(command.data.hex)"]
    }
}
