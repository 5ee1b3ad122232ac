// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The clock and the randomness of a session that another tool recorded, as far as its commands give them away.
///
/// Without them a replay could not send the same bytes: OATH sends the time in CALCULATE, and challenges in VALIDATE and
/// SET CODE.
extension Capture {
    /// The time of the first OATH CALCULATE ALL (or of the first CALCULATE of a TOTP account), in seconds since 1970.
    var recoveredClock: Int64? {
        let oath = oathCommands
        let all = oath.lazy.compactMap { $0.ins == 0xA4 ? Self.timeStep($0.data, period: 30) : nil }.first
        return all ?? oath.lazy.compactMap { $0.ins == 0xA2 ? Self.timeOfCalculate($0.data) : nil }.first
    }

    /// The host's challenges in OATH VALIDATE and SET CODE, in order.
    var recoveredRandom: [UInt8] {
        oathCommands.filter { $0.ins == 0xA3 || $0.ins == 0x03 }.flatMap { Self.challenge($0.data) ?? [] }
    }

    private var oathCommands: [APDU] {
        var isOATH = false
        var commands: [APDU] = []
        for event in events {
            guard case .exchange(let bytes, _) = event.kind, let command = try? APDU(decoding: bytes) else { continue }
            if command.ins == 0xA4, command.p1 == 0x04 {
                isOATH = AID.oath.matches(command.data)
            } else if isOATH {
                commands.append(command)
            }
        }
        return commands
    }

    private static func challenge(_ data: [UInt8]) -> [UInt8]? { (try? TLV.list(data))?.value(0x74) }

    private static func timeStep(_ data: [UInt8], period: Int64) -> Int64? {
        guard let challenge = challenge(data), challenge.count == 8 else { return nil }
        var reader = ByteReader(challenge)
        guard let step = try? reader.bigEndian(8), let signed = Int64(exactly: step) else { return nil }
        let (seconds, overflows) = signed.multipliedReportingOverflow(by: period)
        return overflows ? nil : seconds
    }

    private static func timeOfCalculate(_ data: [UInt8]) -> Int64? {
        guard let name = (try? TLV.list(data))?.value(0x71) else { return nil }
        let prefix = name.prefix { $0 != UInt8(ascii: "/") }
        let period = prefix.count < name.count ? Int64(String(decoding: prefix, as: UTF8.self)) : nil
        return timeStep(data, period: period ?? 30)
    }
}
