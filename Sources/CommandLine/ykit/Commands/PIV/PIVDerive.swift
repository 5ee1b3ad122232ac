// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire
import YKX509

/// Derives a shared secret.
struct PIVDerive: Verb {
    static let about = About(
        "derive", "Agree on a secret with another side's public key (ECDH, X25519).",
        discussion: """
            The other side's key is PEM, DER, a certificate, a bare point, or, as in an age file, base 64 of one. The \
            secret is the bare x coordinate, as 'openssl pkeyutl -derive' makes it; hash it before it is used as a key.
            """, members: ["slot", "algorithm", "secret", "output"])

    @Option(name: .shortAndLong, help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The file with the other side's public key, - for standard input.", completion: .file)
    var peer: String

    @Option(help: "How the secret is written: raw, base64 or hex.") var format: SecretFormat = .raw

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where the secret goes.", valueName: "file"), completion: .file)
    var output = "-"

    @Option(help: "The kind of key, if the card does not report it.") var algorithm: PIVAlgorithm?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The format of a secret.
    enum SecretFormat: String, CaseIterable, ExpressibleByArgument {
        case raw, base64, hex

        func encode(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .raw: bytes
            case .base64: Array((Base64.encode(bytes) + "\n").utf8)
            case .hex: Array((Hex.encode(bytes) + "\n").utf8)
            }
        }
    }

    func answer(in world: World) async throws -> Answer {
        let target = try FileOutput(output, isText: format != .raw, isSecret: true, force: replacing.force, world)
        let peer = try PeerKey.read(try Files.read(peer))
        let service = try await world.openPIV()
        var unlocking = PIVUnlocking(world, service, pin)
        let use = try await unlocking.prepare(slot, algorithm, .derive, for: "agree on a secret")
        let secret = try await use.touching(world) {
            try await service.derive(with: peer, use.slot, algorithm: use.algorithm)
        }
        var answer = Answer("the secret is in \(output)", [:])
        let bytes = secret.value.copyBytes()
        try target.put(format.encode(bytes), &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = .string(use.algorithm.description)
        answer.members["secret"] = output == "-" ? .string(Base64.encodeURL(bytes)) : .null
        answer.members["output"] = .string(output)
        return answer
    }
}

/// The public key of the other party, in any of its formats.
enum PeerKey {
    /// Parses a file with a key or certificate, a bare point, or a bare point in base64.
    static func read(_ bytes: [UInt8]) throws -> PublicKey {
        if let key = bare(bytes) { return key }
        let text = String(decoding: bytes, as: UTF8.self).trimmed
        if text.utf8.count < 200, let point = try? Base64.decode(text), let key = bare(point) { return key }
        let file = try KeyFile(bytes)
        if let key = file.publicKey ?? file.certificates.first?.publicKey { return key }
        throw Explanation("no-public-key", .notFound, "the file holds no public key")
    }

    private static func bare(_ bytes: [UInt8]) -> PublicKey? {
        switch (bytes.count, bytes.first) {
        case (32, _): .x25519(bytes)
        case (65, 0x04): .ec(.p256, point: bytes)
        case (97, 0x04): .ec(.p384, point: bytes)
        default: nil
        }
    }
}
