// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Finds the secrets in HID reports that the host writes: CTAPHID messages (CTAP 2.1 §11.2) and OTP slot frames.
struct ReportRedactor: Sendable {
    private var channel: ArraySlice<UInt8> = []
    private var command: UInt8 = 0
    private var message: [UInt8] = []
    private var total = 0

    /// The runs to overwrite in a report that the host writes.
    mutating func masks(written report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count > 7 else { return [] }
        let isInitial = report[4] & 0x80 != 0
        if isInitial {
            channel = report[..<4]
            command = report[4] & 0x7F
            message = []
            total = Int(report[5]) << 8 | Int(report[6])
        } else if report[..<4] != channel {
            return []
        }
        let offset = isInitial ? 7 : 5
        let start = message.count
        message += report[offset...].prefix(max(0, total - start))
        let part = start..<message.count
        return places.map { $0.clamped(to: part) }.filter { !$0.isEmpty }
            .map { Capture.Event.Mask(offset: offset + $0.lowerBound - start, length: $0.count) }
    }

    private var places: [Range<Int>] {
        switch command {
        case 0x10: SecretPlaces.ctap(message)
        case 0x43: SecretPlaces.configuration(message)
        case 0x03 where message.count > 7 && [0x43, 0x44].contains(message[1]): [7..<message.count]
        default: []
        }
    }

    /// The runs to overwrite in a feature report: the payload of a slot frame. The slot command comes last in a frame,
    /// so whether the payload is a secret is not known while it passes; it is taken for one.
    static func masks(featureSet report: [UInt8]) -> [Capture.Event.Mask] {
        guard report.count == 8, report[7] & 0x80 != 0, report[7] & 0x1F <= 9 else { return [] }
        return [Capture.Event.Mask(offset: 0, length: report[7] & 0x1F == 9 ? 1 : 7)]
    }
}
