// SPDX-License-Identifier: Apache-2.0

extension CTAPHID.Message {
    /// The message as 64-byte reports, the last one padded with zeros (CTAP 2.2 §11.2.4).
    ///
    /// - Throws: `tooLarge` for a payload above 7609 bytes.
    public func reports() throws(WireError) -> [[UInt8]] {
        guard payload.count <= CTAPHID.messageLimit else {
            throw WireError(.tooLarge, at: 0, "\(payload.count) bytes, a message has at most \(CTAPHID.messageLimit)")
        }
        let length = payload.count
        let rest = max(0, length - CTAPHID.initialCapacity)
        var reports: [[UInt8]] = []
        reports.reserveCapacity(1 + (rest + CTAPHID.continuationCapacity - 1) / CTAPHID.continuationCapacity)
        reports.append(
            report(0..<min(length, CTAPHID.initialCapacity)) { head in
                head[4] = 0x80 | command.rawValue
                head[5] = UInt8(truncatingIfNeeded: length >> 8)
                head[6] = UInt8(truncatingIfNeeded: length)
                return 7
            })
        for start in stride(from: CTAPHID.initialCapacity, to: length, by: CTAPHID.continuationCapacity) {
            let sequence = UInt8(truncatingIfNeeded: reports.count - 1)
            reports.append(
                report(start..<min(length, start + CTAPHID.continuationCapacity)) { head in
                    head[4] = sequence
                    return 5
                })
        }
        return reports
    }

    /// A report with a head and part of the payload; `head` returns the length of the head.
    private func report(
        _ part: Range<Int>, head: (UnsafeMutableBufferPointer<UInt8>) -> Int
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: CTAPHID.reportSize) { buffer, count in
            buffer.initialize(repeating: 0)
            for index in 0..<4 { buffer[index] = UInt8(truncatingIfNeeded: channel.rawValue >> (24 - 8 * index)) }
            let start = head(buffer)
            for (index, byte) in payload[part].enumerated() { buffer[start + index] = byte }
            count = CTAPHID.reportSize
        }
    }
}
