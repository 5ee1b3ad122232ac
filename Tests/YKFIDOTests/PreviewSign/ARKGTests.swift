// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKWire

/// ARKG-P256 with the vectors of draft-bradleylundberg-cfrg-arkg.
struct ARKGTests {
    struct Vector: CustomTestStringConvertible, Sendable {
        let context: String
        let input: UInt8
        let mac, point, publicKey, privateKey: String
        var testDescription: String { "\(context), input \(input)" }
    }

    private static let seed = (
        blinding: "046d3bdf31d0db48988f16d47048fdd24123cd286e42d0512daa9f726b4ecf18df"
            + "65ed42169c69675f936ff7de5f9bd93adbc8ea73036b16e8d90adbfabdaddba7",
        encapsulation: "04c38bbdd7286196733fa177e43b73cfd3d6d72cd11cc0bb2c9236cf85a42dcff5"
            + "dfa339c1e07dfcdfda8d7be2a5a3c7382991f387dfe332b1dd8da6e0622cfb35"
    )

    private static let firstPoint =
        "0487fc739dbcdabc293ac5469221da91b220e04c681074ec4692a76ffacb9043de"
        + "c2847ea9060fd42da267f66852e63589f0c00dc88f290d660c65a65a50c86361"

    static let vectors = [
        Vector(
            context: "ARKG-P256.test vectors", input: 0x40, mac: "27987995f184a44cfa548d104b0a461d", point: firstPoint,
            publicKey: "04572a111ce5cfd2a67d56a0f7c684184b16ccd212490dc9c5b579df749647d107"
                + "dac2a1b197cc10d2376559ad6df6bc107318d5cfb90def9f4a1f5347e086c2cd",
            privateKey: "775d7fe9a6dfba43ce671cb38afca3d272c4d14aff97bd67559eb500a092e5e7"),
        Vector(
            context: "ARKG-P256.test vectors", input: 0xA0, mac: "b7507a82771776fbac41a18d94e19a7e",
            point: "0457fd1e438280c127dd55a6138d1baf0a35e3e9671f7e42d8345f47374afa8324"
                + "7a078fa2196cd69497aed59ef92c05cb6b03d306ec24f2f4ff2db09cd95d1b11",
            publicKey: "04ea7d962c9f44ffe8b18f1058a471f394ef81b674948eefc1865b5c021cf858f5"
                + "77f9632b84220e4a1444a20b9430b86731c37e4dcb285eda38d76bf758918d86",
            privateKey: "6228e470290e9d7cc0feff32a74caafa14c608c956337eba23997f5904cff226"),
        Vector(
            context: "ARKG-P256.test vectors.0", input: 0x40, mac: "81c4e65b552e52350b49864b98b87d51",
            point: firstPoint,
            publicKey: "04b79b65d6bbb419ff97006a1bd52e3f4ad53042173992423e06e52987a037cb61"
                + "dd82b126b162e4e7e8dc5c9fd86e82769d402a1968c7c547ef53ae4f96e10b0e",
            privateKey: "2a97f4232f9abba32fbfc28c6686f8afd2d851c2a95a3ed2f0a384b9ad55068d"),
    ]

    private static func counting(from first: UInt8) -> Secret { Secret((0..<32).map { first + $0 }) }

    private func privateSeed() throws -> ARKGP256.PrivateSeed {
        try ARKGP256.PrivateSeed(
            blinding: Self.counting(from: 0x00), encapsulation: Self.counting(from: 0x20))
    }

    private func publicSeed() throws -> ARKGP256.PublicSeed {
        try ARKGP256.PublicSeed(
            blinding: Hex.decode(Self.seed.blinding), encapsulation: Hex.decode(Self.seed.encapsulation))
    }

    @Test("a seed of random bytes") func seeds() throws {
        try expect(privateSeed().publicSeed(), is: publicSeed())
    }

    @Test("a public key, and the private key of its handle", arguments: vectors)
    func derives(_ vector: Vector) throws {
        let context = Array(vector.context.utf8)
        let derived = try publicSeed().derive(Self.counting(from: vector.input), context: context)
        expect(Hex.encode(derived.keyHandle), is: vector.mac + vector.point)
        expect(Hex.encode(derived.publicKey), is: vector.publicKey)
        let scalar = try privateSeed().derive(derived.keyHandle, context: context)
        expect(Hex.encode(scalar.copyBytes()), is: vector.privateKey)
        let digest = HashAlgorithm.sha256.hash([1, 2, 3])
        let signature = try PrivateKey(.p256, scalar: scalar).sign(digest: digest)
        #expect(try VerificationKey(ecdsa: .p256, point: derived.publicKey).isValid(signature, for: [1, 2, 3]))
    }

    @Test("a handle for another context or seed, or damaged") func refusesOtherHandles() throws {
        let handle = try publicSeed().derive(Self.counting(from: 0x40), context: [1]).keyHandle
        let other = try ARKGP256.PrivateSeed(
            blinding: Self.counting(from: 0x00), encapsulation: Self.counting(from: 0x21))
        #expect(throws: CryptoFault.self) { _ = try other.derive(handle, context: [1]) }
        #expect(throws: CryptoFault.self) { _ = try privateSeed().derive(handle, context: [2]) }
        #expect(throws: CryptoFault.self) { _ = try privateSeed().derive(handle, context: []) }
        #expect(throws: CryptoFault.self) { _ = try privateSeed().derive(Array(handle.dropLast()), context: [1]) }
        #expect(throws: CryptoFault.self) { _ = try privateSeed().derive([], context: [1]) }
        for place in handle.indices {
            var damaged = handle
            damaged[place] ^= 1
            #expect(throws: CryptoFault.self, "byte \(place)") { _ = try privateSeed().derive(damaged, context: [1]) }
        }
    }

    @Test("lengths, and points that are not on the curve") func refusesOtherInputs() throws {
        let seed = try publicSeed()
        let longest = [UInt8](repeating: 7, count: 64)
        try expect(seed.derive(Self.counting(from: 1), context: longest).keyHandle.count, is: ARKGP256.handleSize)
        #expect(throws: CryptoFault.self) { try seed.derive(Self.counting(from: 1), context: longest + [7]) }
        #expect(throws: CryptoFault.self) { try seed.derive(Secret([UInt8](repeating: 1, count: 31)), context: []) }
        var point = seed.blinding
        point[64] ^= 1
        #expect(throws: CryptoFault.self) {
            try ARKGP256.PublicSeed(blinding: point, encapsulation: seed.encapsulation)
        }
        #expect(throws: CryptoFault.self) { try ARKGP256.PublicSeed(blinding: seed.blinding, encapsulation: []) }
        let key = try PrivateKey(ed25519: Self.counting(from: 1))
        #expect(throws: CryptoFault.self) { try key.sign(digest: [UInt8](repeating: 0, count: 32)) }
    }

    @Test("COSE_Sign_Args of the first vector") func arguments() throws {
        let vector = Self.vectors[0]
        let arguments = PreviewSign.Arguments(
            keyHandle: try Hex.decode(vector.mac + vector.point), context: Array(vector.context.utf8))
        let expected =
            "a3033a000100022058\("51")\(vector.mac)\(vector.point)2156\(Hex.encode(Array(vector.context.utf8)))"
        expect(Hex.encode(arguments.encoded), is: expected)
        try expect(PreviewSign.Arguments(decoding: arguments.encoded), is: arguments)
    }
}
