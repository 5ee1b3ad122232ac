// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKTestSupport
import YKTransport

extension ScriptedLink {
    /// A service on a card of a version that answers one instruction as said, and any other with `usual`.
    static func service(
        version: [UInt8] = [5, 7, 1], atr: [UInt8] = yubiKey4, log: Log = Log(), otherwise: [UInt8] = [0x6A, 0x82],
        _ answers: [UInt8: [UInt8]]
    ) async throws -> PIVService {
        let link = ScriptedLink(atr: atr, log: log) { command in
            switch command[1] {
            case 0xA4: [0x90, 0x00]
            case 0xFD where answers[0xFD] == nil: version + [0x90, 0x00]
            default: answers[command[1]] ?? otherwise
            }
        }
        return try await PIVService.open(CardChannel(link: link, environment: .still))
    }
}
