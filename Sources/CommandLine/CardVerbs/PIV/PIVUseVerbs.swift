// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKPIV
import YKUse
import YKWire

/// Options for using the key in a slot and writing the result to a file.
struct PIVUseOptions: ParsableArguments {
    @Option("--algorithm", help: "The key algorithm, if the card does not report it.") var algorithm: PIVAlgorithm?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// Performs the verification that a slot requires before its key is used, and returns the key's properties and the
    /// input. `read` reads the input, and rejects unsuitable input before the PIN is sent.
    func prepare<Input>(
        _ slot: PIVSlot, _ operation: PIVOperation, for reason: String, _ service: PIVService, _ run: Run,
        reading read: (PIVAlgorithm) throws -> Input
    ) async throws -> (use: PIVKeyUse, input: Input) {
        let unlocking = run.piv(service, pin)
        return try await unlocking.prepare(slot, algorithm, operation, for: reason, reading: read)
    }
}

/// Signs a file.
struct PIVSign: Verb {
    static let about = About(
        "Sign a file with the key in a slot.",
        discussion: """
            The signature can be verified with 'openssl dgst -sha256 -verify': PKCS#1 v1.5 or, with --padding pss, PSS \
            for RSA, a DER sequence for ECDSA. Ed25519 signs the file itself, which must fit into the key ('openssl \
            pkeyutl -verify -rawin'). --digest means that the file is a digest computed elsewhere. The signature is \
            checked with the slot's public key if the card reports it.
            """,
        examples: [Example("ykit piv sign --slot 9a letter.txt --output letter.sig")])

    @Option(["--slot", "-s"], help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file = "-"

    @Option("--hash", help: "The hash of the signature: sha256, sha384, sha512 or sha1; Ed25519 has a fixed one.")
    var hash: HashChoice = .sha256

    @Option("--padding", help: "RSA padding: pkcs1 or pss.") var padding: SignaturePadding = .pkcs1

    @Flag("--digest", help: "The file contains the digest.") var digest = false

    @Option(
        "--format", help: "Format of the signature: der, raw (r and s of ECDSA one after the other) or base64.")
    var format: SignatureFormat = .der

    @Option(["--output <file>", "-o"], help: "Where to write the signature.") var output = "-"

    @OptionGroup var using: PIVUseOptions

    /// The RSA padding of a digest.
    enum SignaturePadding: String, CaseIterable, ExpressibleByArgument {
        case pkcs1, pss
    }

    func run(in run: Run) async throws -> Outcome<PIVSignature> {
        let target = try FileOutput(output, isText: format == .base64, force: using.replacing.force, run)
        let early = try file == "-" || Files.isReadable(file) ? nil : read(nil)
        let service = try await run.choosing { try await $0.openLoading(PIVService.self) }
        let (hash, scheme) = (hash.algorithm, padding == .pss ? PublicKey.Padding.pss : .default)
        let (use, input) = try await using.prepare(slot, .sign, for: "sign", service, run) { algorithm in
            let input = try early.flatMap { algorithm == .ed25519 ? nil : $0 } ?? read(algorithm)
            try PIVService.check(input, for: algorithm, hash: hash, padding: scheme)
            return input
        }
        let signature = try await use.touching(run.person) {
            try await service.sign(
                input, use.slot, hash: hash, padding: scheme, algorithm: use.algorithm, key: use.key)
        }
        let report = PIVSignature(
            slot: slot, algorithm: use.algorithm, hash: self.hash, padding: padding,
            bytes: try format.bytes(of: signature, use.algorithm), output: output)
        return try target.put(format.encode(signature, use.algorithm), of: report, "signature written to \(output)")
    }

    /// Returns the data to sign: the digest of a file of any size, or the whole message for Ed25519. A pipe is read before the
    /// first command to the card, which the program at its other end may use, too; standard input after it, since the PIN may
    /// come first.
    private func read(_ algorithm: PIVAlgorithm?) throws(Explanation) -> SigningInput {
        if digest { return .digest(try Files.read(file)) }
        return try algorithm == .ed25519 ? .message(Files.read(file)) : .hashed(Files.hash(file, hash.algorithm))
    }
}

/// A signature.
struct PIVSignature: Report {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let hash: HashChoice
    let padding: PIVSign.SignaturePadding
    let bytes: [UInt8]
    let output: String
    static let members: [Member<PIVSignature>] = [
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.algorithm.description },
        Member("hash", "null for Ed25519") { $0.algorithm == .ed25519 ? nil : $0.hash.rawValue },
        Member("padding", "of RSA") { $0.algorithm.modulusSize == nil ? nil : $0.padding.rawValue },
        Member("signature", "in base64url") { Base64.encodeURL($0.bytes) },
        Member("output") { $0.output },
    ]
}

/// Decrypts a message.
struct PIVDecrypt: Verb {
    static let about = About(
        "Decrypt a message with the RSA key in a slot.",
        discussion: """
            The message is as long as the key, as from 'openssl pkeyutl -encrypt', whose default with OAEP is --hash \
            sha1. For elliptic-curve keys, use 'ykit piv derive'.
            """,
        examples: [Example("ykit piv decrypt --slot 9d message.bin --output message.txt")])

    @Option(["--slot", "-s"], help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file with the message, - for standard input.", completion: .input) var file = "-"

    @Option("--padding", help: "Padding of the message: pkcs1 or oaep.") var padding: PaddingChoice = .pkcs1

    @Option("--hash", help: "The hash of OAEP: sha256, sha384, sha512 or sha1.") var hash: HashChoice = .sha256

    @Option(["--output <file>", "-o"], help: "The file to write the plaintext to.") var output = "-"

    @OptionGroup var using: PIVUseOptions

    /// The padding of a message.
    enum PaddingChoice: String, CaseIterable, ExpressibleByArgument {
        case pkcs1, oaep
    }

    func run(in run: Run) async throws -> Outcome<PIVPlaintext> {
        let target = try FileOutput(output, isSecret: true, force: using.replacing.force, run)
        let early = try file == "-" ? nil : Files.read(file)
        let service = try await run.openPIV()
        let (use, message) = try await using.prepare(slot, .decrypt, for: "decrypt", service, run) { algorithm in
            let message = try early ?? Files.read(file)
            try PIVService.checkCiphertext(message, for: algorithm)
            return message
        }
        let padding = padding == .oaep ? DecryptionPadding.oaep(hash.algorithm) : .pkcs1
        let plaintext = try await use.touching(run.person) {
            try await service.decrypt(message, use.slot, padding: padding, algorithm: use.algorithm)
        }
        let bytes = plaintext.value.copyBytes()
        let isText = String(validating: bytes, as: UTF8.self).map { $0 == $0.printable } ?? false
        let report = PIVPlaintext(
            slot: slot, algorithm: use.algorithm, padding: self.padding, hash: hash, bytes: bytes, output: output)
        return try target.put(bytes, isText: isText, of: report, "plaintext written to \(output)")
    }
}

/// A message that was decrypted.
struct PIVPlaintext: Report {
    let slot: PIVSlot
    let algorithm: PIVAlgorithm
    let padding: PIVDecrypt.PaddingChoice
    let hash: HashChoice
    let bytes: [UInt8]
    let output: String
    static let members: [Member<PIVPlaintext>] = [
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.algorithm.description },
        Member("padding") { $0.padding.rawValue },
        Member("hash", "of OAEP") { $0.padding == .oaep ? $0.hash.rawValue : nil },
        Member("plaintext", "in base64url, unless written to a file") {
            $0.output == "-" ? Base64.encodeURL($0.bytes) : nil
        },
        Member("output") { $0.output },
    ]
}

/// Derives a shared secret.
struct PIVDerive: Verb {
    static let about = About(
        "Derive a shared secret from a peer's public key (ECDH, X25519).",
        discussion: """
            The peer's key is PEM, DER, a certificate, a raw point, or one in base64 as in an age file. The secret is \
            the raw x coordinate, as from 'openssl pkeyutl -derive'; hash it before using it as a key.
            """,
        examples: [Example("ykit piv derive --slot 9a peer.pem --output shared.bin")])
    typealias Reported = (slot: PIVSlot, algorithm: PIVAlgorithm, bytes: [UInt8], output: String)
    static let answer = Shape<Reported>(
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.algorithm.description },
        Member("secret", "in base64url, unless written to a file") {
            $0.output == "-" ? Base64.encodeURL($0.bytes) : nil
        },
        Member("output") { $0.output })

    @Option(["--slot", "-s"], help: PIVSlot.help) var slot: PIVSlot

    @Argument("peer", help: "The file with the peer's public key, - for standard input.", completion: .input)
    var peer: String

    @Option("--format", help: "Format of the secret: raw, base64 or hex.") var format: SecretFormat = .raw

    @Option(["--output <file>", "-o"], help: "Where to write the secret.") var output = "-"

    @OptionGroup var using: PIVUseOptions

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

    func run(in run: Run) async throws -> Outcome<Reported> {
        let target = try FileOutput(output, isText: format != .raw, isSecret: true, force: using.replacing.force, run)
        let early = try peer == "-" ? nil : PeerKey.read(peer)
        let service = try await run.openPIV()
        let (use, key) = try await using.prepare(slot, .derive, for: "agree on a secret", service, run) { algorithm in
            let key = try early ?? PeerKey.read(peer)
            try PIVService.checkPeer(key, for: algorithm)
            return key
        }
        let secret = try await use.touching(run.person) {
            try await service.derive(with: key, use.slot, algorithm: use.algorithm)
        }
        let bytes = secret.value.copyBytes()
        return try target.put(
            format.encode(bytes),
            of: (slot: slot, algorithm: use.algorithm, bytes: bytes, output: output),
            "secret written to \(output)")
    }
}

/// The public key of the other party, in any of its formats.
enum PeerKey {
    /// Reads a file with a key or certificate, a bare point, or a bare point in base64.
    static func read(_ path: String) throws -> PublicKey { try read(try Files.read(path), at: path) }

    /// Parses the content of such a file.
    static func read(_ bytes: [UInt8], at path: String) throws -> PublicKey {
        if let key = bare(bytes) { return key }
        let text = TextFile.unicode(bytes)?.trimmed ?? ""
        if text.utf8.count < 200, let point = try? Base64.decode(text), let key = bare(point) { return key }
        return try KeyFile(bytes, at: path).publicKey(in: path)
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
