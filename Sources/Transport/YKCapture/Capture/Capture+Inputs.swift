// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

/// The clock and the randomness of a session recorded by another tool, as far as they can be recovered from its
/// commands.
///
/// Without them, a replay could not send the same bytes: OATH sends the time in CALCULATE, and challenges in VALIDATE
/// and SET CODE.
extension Capture {
    struct Inputs: Sendable {
        /// The times of OATH CALCULATE ALL, in seconds since 1970, by the index of their events.
        private var all: [(index: Int, seconds: Int64)] = []
        /// The times of CALCULATE, computed with the account's period.
        private var single: [(index: Int, seconds: Int64)] = []
        /// The host's challenges in OATH VALIDATE and SET CODE, in order.
        private(set) var random: [UInt8] = []

        init() {}

        init(of capture: Capture) {
            for (index, command) in capture.oathCommands {
                switch command.ins {
                case OATHProtocol.Instruction.calculateAll:
                    Capture.timeStep(command.data, period: 30).map { all.append((index, $0)) }
                case OATHProtocol.Instruction.calculate:
                    Capture.timeOfCalculate(command.data).map { single.append((index, $0)) }
                case OATHProtocol.Instruction.validate, OATHProtocol.Instruction.setCode:
                    random += Capture.challenge(command.data) ?? []
                default: break
                }
            }
        }

        /// The time that the host needs from an event on in order to send the recorded bytes.
        func time(from position: Int) -> Int64? {
            let times = all.isEmpty ? single : all
            return (times.first { $0.index >= position } ?? times.last)?.seconds
        }
    }

    private var oathCommands: [(Int, APDU)] {
        var isOATH = false
        var commands: [(Int, APDU)] = []
        for (index, event) in events.enumerated() {
            guard case .exchange(let bytes, _) = event.kind, let command = try? APDU(decoding: bytes) else { continue }
            if command.isSelection {
                isOATH = AID.oath.matches(command.data)
            } else if isOATH {
                commands.append((index, command))
            }
        }
        return commands
    }

    private static func challenge(_ data: [UInt8]) -> [UInt8]? {
        (try? TLV.list(data))?.value(OATHProtocol.Tag.challenge)
    }

    private static func timeStep(_ data: [UInt8], period: Int64) -> Int64? {
        guard let challenge = challenge(data), challenge.count == 8 else { return nil }
        var reader = ByteReader(challenge)
        guard let step = try? reader.bigEndian(8), let signed = Int64(exactly: step) else { return nil }
        let (seconds, overflows) = signed.multipliedReportingOverflow(by: period)
        return overflows ? nil : seconds
    }

    private static func timeOfCalculate(_ data: [UInt8]) -> Int64? {
        guard let name = (try? TLV.list(data))?.value(OATHProtocol.Tag.name) else { return nil }
        let prefix = name.prefix { $0 != UInt8(ascii: "/") }
        let period = prefix.count < name.count ? Int64(String(decoding: prefix, as: UTF8.self)) : nil
        return timeStep(data, period: period ?? 30)
    }
}
