// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// Signs a file.
struct PIVSign: Verb {
    static let about = About(
        "sign", "Sign a file with the key in a slot.",
        discussion: """
            The signature is what 'openssl dgst -sha256 -verify' checks: PKCS#1 v1.5 or, with --padding pss, PSS for \
            RSA, a DER sequence for ECDSA. Ed25519 signs the file itself, which has to fit the key ('openssl pkeyutl \
            -verify -rawin'). --digest says that the file is the digest of something that was hashed elsewhere. The signature is checked \
            with the slot's public key where the card tells it.
            """, members: ["slot", "algorithm", "hash", "padding", "signature", "output"])

    @Option(name: .shortAndLong, help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The file, - for standard input.", completion: .file) var file = "-"

    @Option(help: "The hash of the signature: sha256, sha384, sha512 or sha1; Ed25519 has its own.") var hash:
        HashChoice = .sha256

    @Option(help: "RSA padding: pkcs1 or pss.") var padding: SignaturePadding = .pkcs1

    @Flag(help: "The file contains the digest.") var digest = false

    @Option(help: "How the signature is written: der, raw (r and s of ECDSA one after the other) or base64.")
    var format: SignatureFormat = .der

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Where the signature goes.", valueName: "file"), completion: .file)
    var output = "-"

    @Option(help: "The kind of key, if the card does not report it.") var algorithm: PIVAlgorithm?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The RSA padding of a digest.
    enum SignaturePadding: String, CaseIterable, ExpressibleByArgument {
        case pkcs1, pss
    }

    func answer(in world: World) async throws -> Answer {
        let target = try FileOutput(output, isText: format == .base64, force: replacing.force, world)
        let early = try file == "-" ? nil : read(nil)
        let service = try await world.openPIV()
        var unlocking = PIVUnlocking(world, service, pin)
        let use = try await unlocking.prepare(slot, algorithm, .sign, for: "sign")
        let input = try early.flatMap { use.algorithm == .ed25519 ? nil : $0 } ?? read(use.algorithm)
        let (hash, padding) = (hash, padding)
        let signature = try await use.touching(world) {
            try await service.sign(
                input, use.slot, hash: hash.algorithm, padding: padding == .pss ? .pss : .usual,
                algorithm: use.algorithm, key: use.key)
        }
        var answer = Answer("the signature is in \(output)", [:])
        let bytes = try format.encode(signature, use.algorithm)
        try target.put(bytes, &answer)
        let isRSA = use.algorithm.modulusSize != nil
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = .string(use.algorithm.description)
        answer.members["hash"] = use.algorithm == .ed25519 ? .null : .string(hash.rawValue)
        answer.members["padding"] = isRSA ? .string(padding.rawValue) : .null
        answer.members["signature"] = .string(Base64.encodeURL(try format.bytes(of: signature, use.algorithm)))
        answer.members["output"] = .string(output)
        return answer
    }

    /// Returns the data to sign: the digest of a file of any size, or the whole message for Ed25519. Files are read
    /// before the first command to the card; standard input is read after it, since the PIN may come first.
    private func read(_ algorithm: PIVAlgorithm?) throws(Explanation) -> SigningInput {
        if digest { return .digest(try Files.read(file)) }
        return try algorithm == .ed25519 ? .message(Files.read(file)) : .digest(Files.hash(file, hash.algorithm))
    }
}
