// SPDX-License-Identifier: Apache-2.0

/// A polynomial with 256 coefficients modulo q, or its number-theoretic transform (FIPS 204 §2.5).
struct MLDSAPolynomial: Sendable {
    static let q: Int32 = 8_380_417

    /// Numbers from 0 to q - 1, the constant coefficient first.
    var coefficients = [Int32](repeating: 0, count: 256)

    /// The largest absolute value of a coefficient modulo q (§2.3).
    var infinityNorm: Int32 { coefficients.reduce(0) { max($0, min($1, Self.q - $1)) } }

    /// Adds the product of two transforms (§7.6, algorithms 44 and 45).
    mutating func add(_ a: Self, times b: Self) {
        for index in 0..<256 {
            let product = Self.multiply(a.coefficients[index], b.coefficients[index])
            coefficients[index] = Self.add(coefficients[index], product)
        }
    }

    func multiplied(by factor: Int32) -> Self { Self(coefficients: coefficients.map { Self.multiply($0, factor) }) }

    private static func add(_ a: Int32, _ b: Int32) -> Int32 { a + b < q ? a + b : a + b - q }

    private static func subtract(_ a: Int32, _ b: Int32) -> Int32 { a < b ? a - b + q : a - b }

    private static func multiply(_ a: Int32, _ b: Int32) -> Int32 { Int32(Int64(a) * Int64(b) % Int64(q)) }
}

extension MLDSAPolynomial {
    /// The powers of 1753 whose exponents are the indices with their bits reversed (appendix B).
    private static let zetas: [Int32] = (0..<256).map { m in
        (0..<8).reduce(1) { multiply(multiply($0, $0), m >> $1 & 1 == 0 ? 1 : 1753) }
    }

    /// The transform of a polynomial (§7.5, algorithm 41).
    func ntt() -> Self {
        var w = coefficients
        var m = 0
        for length in [128, 64, 32, 16, 8, 4, 2, 1] {
            for start in stride(from: 0, to: 256, by: 2 * length) {
                m += 1
                let zeta = Self.zetas[m]
                for j in start..<start + length {
                    let t = Self.multiply(zeta, w[j + length])
                    w[j + length] = Self.subtract(w[j], t)
                    w[j] = Self.add(w[j], t)
                }
            }
        }
        return Self(coefficients: w)
    }

    /// The polynomial with this transform (§7.5, algorithm 42).
    func inverseNTT() -> Self {
        var w = coefficients
        var m = 256
        for length in [1, 2, 4, 8, 16, 32, 64, 128] {
            for start in stride(from: 0, to: 256, by: 2 * length) {
                m -= 1
                let zeta = Self.zetas[m]
                for j in start..<start + length {
                    let t = w[j]
                    w[j] = Self.add(t, w[j + length])
                    w[j + length] = Self.multiply(zeta, Self.subtract(w[j + length], t))
                }
            }
        }
        let inverseOf256: Int32 = 8_347_681
        return Self(coefficients: w).multiplied(by: inverseOf256)
    }
}

extension MLDSAPolynomial {
    /// Samples a transform uniformly (§7.3, algorithm 30).
    static func rejNTTPoly(_ seed: [UInt8]) -> Self {
        var stream = SHAKE.Stream(.shake128, of: seed)
        var a = Self()
        var index = 0
        while index < 256 {
            let (low, middle, high) = (Int32(stream.next()), Int32(stream.next()), Int32(stream.next()))
            let value = (high & 0x7F) << 16 | middle << 8 | low
            guard value < q else { continue }
            a.coefficients[index] = value
            index += 1
        }
        return a
    }

    /// Samples a polynomial with `tau` coefficients that are 1 or -1; the others are 0 (§7.3, algorithm 29).
    static func sampleInBall(_ seed: [UInt8], tau: Int) -> Self {
        var stream = SHAKE.Stream(.shake256, of: seed)
        var signs: UInt64 = 0
        for index in 0..<8 { signs |= UInt64(stream.next()) << (8 * index) }
        var c = Self()
        for i in 256 - tau..<256 {
            var j = Int(stream.next())
            while j > i { j = Int(stream.next()) }
            c.coefficients[i] = c.coefficients[j]
            c.coefficients[j] = signs & 1 == 0 ? 1 : q - 1
            signs >>= 1
        }
        return c
    }

    /// Reads 256 numbers of up to 24 bits, each of which is subtracted from `bound` (§7.1, algorithm 19).
    static func bitUnpack(_ bytes: [UInt8], at start: Int, width: Int, bound: Int32) -> Self {
        var w = Self()
        var (buffer, count, position) = (UInt32(0), 0, start)
        for index in 0..<256 {
            while count < width {
                buffer |= UInt32(bytes[position]) << count
                position += 1
                count += 8
            }
            w.coefficients[index] = subtract(bound, Int32(buffer & (1 << width - 1)))
            buffer >>= width
            count -= width
        }
        return w
    }

    /// Writes coefficients of up to 8 bits (§7.1, algorithm 16).
    static func simpleBitPack(_ coefficients: [Int32], width: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var (buffer, count) = (UInt32(0), 0)
        for coefficient in coefficients {
            buffer |= UInt32(coefficient) << count
            count += width
            guard count >= 8 else { continue }
            bytes.append(UInt8(truncatingIfNeeded: buffer))
            buffer >>= 8
            count -= 8
        }
        return bytes
    }
}
