// SPDX-License-Identifier: Apache-2.0

/// A parameter set of ML-DSA (FIPS 204 §4).
struct MLDSAParameters: Sendable {
    let k, l, tau, omega, lambda: Int
    let gamma1, gamma2, beta: Int32

    static let mlDSA44 = MLDSAParameters(
        k: 4, l: 4, tau: 39, omega: 80, lambda: 128, gamma1: 1 << 17, gamma2: (MLDSAPolynomial.q - 1) / 88, beta: 78)
    static let mlDSA65 = MLDSAParameters(
        k: 6, l: 5, tau: 49, omega: 55, lambda: 192, gamma1: 1 << 19, gamma2: (MLDSAPolynomial.q - 1) / 32, beta: 196)
    static let mlDSA87 = MLDSAParameters(
        k: 8, l: 7, tau: 60, omega: 75, lambda: 256, gamma1: 1 << 19, gamma2: (MLDSAPolynomial.q - 1) / 32, beta: 120)

    var challengeSize: Int { lambda / 4 }
    /// The number of bits of a coefficient of z.
    var zWidth: Int { gamma1.trailingZeroBitCount + 1 }
    var publicKeySize: Int { 32 + 320 * k }
    var signatureSize: Int { challengeSize + 32 * zWidth * l + omega + k }
    /// The number of values that a coefficient of w1 can have.
    var w1Count: Int32 { (MLDSAPolynomial.q - 1) / (2 * gamma2) }
    var w1Width: Int { Int32.bitWidth - (w1Count - 1).leadingZeroBitCount }

    /// r1 and r0 such that r = r1 · 2 gamma2 + r0 (§7.4, algorithm 36).
    func decompose(_ r: Int32) -> (r1: Int32, r0: Int32) {
        let remainder = r % (2 * gamma2)
        let r0 = remainder > gamma2 ? remainder - 2 * gamma2 : remainder
        return r - r0 == MLDSAPolynomial.q - 1 ? (0, r0 - 1) : ((r - r0) / (2 * gamma2), r0)
    }

    /// The high bits of r, corrected by a hint (§7.4, algorithm 40).
    func useHint(_ hint: Bool, _ r: Int32) -> Int32 {
        let (r1, r0) = decompose(r)
        guard hint else { return r1 }
        return (r1 + (r0 > 0 ? 1 : w1Count - 1)) % w1Count
    }
}

/// A public key of ML-DSA, which verifies signatures with an empty context (FIPS 204 §5.3).
struct MLDSAPublicKey: Sendable {
    private let set: MLDSAParameters
    private let rho: [UInt8]
    /// The transforms of -t1 · 2^d.
    private let t1: [MLDSAPolynomial]
    private let tr: [UInt8]

    /// Decodes a key (§7.2, algorithm 23); `nil` if it has the wrong length.
    init?(_ set: MLDSAParameters, _ bytes: [UInt8]) {
        guard bytes.count == set.publicKeySize else { return nil }
        self.set = set
        rho = Array(bytes.prefix(32))
        t1 = (0..<set.k).map {
            MLDSAPolynomial.bitUnpack(bytes, at: 32 + 320 * $0, width: 10, bound: 0).multiplied(by: 1 << 13).ntt()
        }
        tr = SHAKE.shake256.hash(bytes, 64)
    }

    /// Whether the signature over the message was made by the matching private key (§6.3, algorithm 8).
    func isValid(_ signature: [UInt8], for message: [UInt8]) -> Bool {
        guard let signature = MLDSASignature(set, signature) else { return false }
        // The two zeros stand for pure ML-DSA and an empty context (§5.3, algorithm 3).
        let mu = SHAKE.shake256.hash(tr + [0x00, 0x00] + message, 64)
        let c = MLDSAPolynomial.sampleInBall(signature.challenge, tau: set.tau).ntt()
        let z = signature.z.map { $0.ntt() }
        var w1: [UInt8] = []
        for row in 0..<set.k {
            var sum = MLDSAPolynomial()
            for column in 0..<set.l { sum.add(expandA(row, column), times: z[column]) }
            sum.add(c, times: t1[row])
            let w = sum.inverseNTT().coefficients
            let high = (0..<256).map { set.useHint(signature.hints[row][$0], w[$0]) }
            w1 += MLDSAPolynomial.simpleBitPack(high, width: set.w1Width)
        }
        return SHAKE.shake256.hash(mu + w1, set.challengeSize) == signature.challenge
    }

    /// An element of the matrix A, transformed (§7.3, algorithm 32).
    private func expandA(_ row: Int, _ column: Int) -> MLDSAPolynomial {
        .rejNTTPoly(rho + [UInt8(column), UInt8(row)])
    }
}

/// A signature that is well-formed, and whose z is within bounds.
private struct MLDSASignature {
    /// The commitment hash, from which the polynomial c is sampled.
    let challenge: [UInt8]
    let z: [MLDSAPolynomial]
    let hints: [[Bool]]

    /// Decodes a signature (§7.2, algorithm 27); `nil` if it is invalid under every key.
    init?(_ set: MLDSAParameters, _ bytes: [UInt8]) {
        guard bytes.count == set.signatureSize,
            let hints = Self.hintBitUnpack(bytes.suffix(set.omega + set.k).map { Int($0) }, set)
        else { return nil }
        self.hints = hints
        challenge = Array(bytes.prefix(set.challengeSize))
        z = (0..<set.l).map {
            .bitUnpack(bytes, at: set.challengeSize + 32 * set.zWidth * $0, width: set.zWidth, bound: set.gamma1)
        }
        guard z.allSatisfy({ $0.infinityNorm < set.gamma1 - set.beta }) else { return nil }
    }

    /// Decodes the hints of each polynomial (§7.1, algorithm 21); `nil` unless their encoding is canonical.
    private static func hintBitUnpack(_ y: [Int], _ set: MLDSAParameters) -> [[Bool]]? {
        var hints = [[Bool]](repeating: [Bool](repeating: false, count: 256), count: set.k)
        var index = 0
        for row in 0..<set.k {
            let (first, end) = (index, y[set.omega + row])
            guard first <= end, end <= set.omega else { return nil }
            while index < end {
                guard index == first || y[index - 1] < y[index] else { return nil }
                hints[row][y[index]] = true
                index += 1
            }
        }
        return y[index..<set.omega].allSatisfy { $0 == 0 } ? hints : nil
    }
}

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
