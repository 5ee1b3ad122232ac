// SPDX-License-Identifier: Apache-2.0

extension CTAPHID.Message {
    /// The message as reports of 64 bytes, the last one filled up with zeros (CTAP 2.2 §11.2.4); throws `tooLarge`
    /// for a payload above 7609 bytes.
    public func reports() throws(WireError) -> [[UInt8]] {
        guard payload.count <= CTAPHID.messageLimit else {
            throw WireError(.tooLarge, at: 0, "\(payload.count) bytes, a message has at most \(CTAPHID.messageLimit)")
        }
        let length = payload.count
        let head = [0x80 | command.rawValue, UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
        var reports = [report(head, from: 0, CTAPHID.initialCapacity)]
        var start = CTAPHID.initialCapacity
        while start < length {
            let sequence = UInt8(truncatingIfNeeded: reports.count - 1)
            reports.append(report([sequence], from: start, CTAPHID.continuationCapacity))
            start += CTAPHID.continuationCapacity
        }
        return reports
    }

    private func report(_ head: [UInt8], from start: Int, _ capacity: Int) -> [UInt8] {
        let end = min(payload.count, start + capacity)
        return [UInt8](unsafeUninitializedCapacity: CTAPHID.reportSize) { buffer, count in
            buffer.initialize(repeating: 0)
            for (index, byte) in channel.bytes.enumerated() { buffer[index] = byte }
            for (index, byte) in head.enumerated() { buffer[4 + index] = byte }
            payload.withUnsafeBytes { bytes in
                let target = UnsafeMutableRawBufferPointer(
                    rebasing: UnsafeMutableRawBufferPointer(buffer)[(4 + head.count)...])
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            }
            count = CTAPHID.reportSize
        }
    }
}
