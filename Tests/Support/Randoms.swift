// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKTransport

/// Random bytes that count up, from the same one with each draw.
package struct CountingRandom: RandomSource {
    private let first: Int

    package init(from first: Int = 0) { self.first = first }

    package func draw(_ count: Int, secret: Bool) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 + first) }
    }
}

/// Random bytes that never repeat, the same at each start.
package final class ScatteredRandom: RandomSource {
    private let counter = Atomic<UInt64>(1)

    package init() {}

    package func draw(_ count: Int, secret: Bool) -> [UInt8] {
        (0..<count).map { _ in
            let number = counter.add(1, ordering: .relaxed).newValue &* 0x9E37_79B9_7F4A_7C15
            return UInt8(truncatingIfNeeded: number >> 40)
        }
    }
}

/// The first of these bytes with each draw.
package struct FixedRandom: RandomSource {
    private let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func draw(_ count: Int, secret: Bool) -> [UInt8] { Array(bytes.prefix(count)) }
}

/// A source that fails once it has given so many draws.
package final class FailingRandom: RandomSource {
    private let left: Atomic<Int>

    package init(after draws: Int = 0) { left = Atomic(draws) }

    package func draw(_ count: Int, secret: Bool) throws(LinkError) -> [UInt8] {
        let left = left.subtract(1, ordering: .relaxed).newValue
        guard left >= 0 else { throw .noReader }
        return CountingRandom(from: left).draw(count, secret: secret)
    }
}
