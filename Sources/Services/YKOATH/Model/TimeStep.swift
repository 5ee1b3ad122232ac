// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The moving factor of a time-based code (RFC 6238 §4.2): the number of periods since 1970.
struct TimeStep: Hashable, Sendable {
    let number: Int64
    let start: Int64
    let end: Int64

    init(of time: Int64, period: Duration) {
        let period = max(1, period.components.seconds)
        let (quotient, remainder) = time.quotientAndRemainder(dividingBy: period)
        number = remainder < 0 ? quotient - 1 : quotient
        start = time.subtractingReportingOverflow(remainder < 0 ? remainder + period : remainder).partialValue
        let (end, overflows) = start.addingReportingOverflow(period)
        self.end = overflows ? .max : end
    }

    /// The number as eight bytes, most significant first.
    var challenge: [UInt8] {
        var writer = ByteWriter(capacity: 8)
        writer.bigEndian(UInt64(bitPattern: number), 8)
        return writer.bytes
    }
}
