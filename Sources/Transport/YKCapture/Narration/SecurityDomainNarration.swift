// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

/// A GlobalPlatform security domain in words.
enum SecurityDomainNarration: ApplicationNarration {
    static func phrase(_ command: NarratedCommand) -> (String, [String])? {
        let names: [UInt8: String] = [
            0x2A: "PERFORM SECURITY OPERATION", 0x50: "INITIALIZE UPDATE", 0x82: "AUTHENTICATE",
            0x88: "INTERNAL AUTHENTICATE",
            0xCA: "GET DATA", 0xD8: "PUT KEY", 0xE2: "STORE DATA", 0xE4: "DELETE KEY", 0xF1: "GENERATE KEY",
        ]
        let data = command.data.isEmpty ? [] : ["data \(command.data.hex)"]
        return names[command.ins].map { ("\($0) \(Hex.encode([command.p1, command.p2]))", data) }
    }
}
