// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKOpenPGP
import YKWire

/// Signs a file with the signature key.
struct OpenPGPSign: Verb {
    static let about = About(
        "Sign a file with the signature key.",
        discussion: """
            The signature can be verified with 'openssl dgst -sha256 -verify': PKCS#1 v1.5 for RSA, a DER sequence for \
            ECDSA. Ed25519 signs the file itself. --digest means that the file is a digest. With --format openpgp or \
            armor it is a signature as from 'gpg --detach-sign', and 'gpg --verify' verifies it with the card's public \
            key in gpg's keyring.
            """,
        examples: [Example("ykit openpgp sign letter.txt --output letter.sig")])

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file = "-"

    @OptionGroup
    var options: OpenPGPSigningOptions

    @Option(
        "--format",
        help: """
            Format of the signature: der, raw (r and s of ECDSA one after the other), base64, openpgp (an OpenPGP \
            signature) or armor (the same as text).
            """)
    var format: OpenPGPSignatureFormat = .der

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        if options.digest, format.bare == nil {
            throw UsageError("an OpenPGP signature cannot be made from a digest: it hashes more than the file")
        }
    }

    func run(in run: Run) async throws -> Outcome<OpenPGPSignatureReport> {
        try await options.sign(file, .signature, format, pin, force: replacing.force, run)
    }
}

/// Signs a file with the authentication key.
struct OpenPGPAuthenticate: Verb {
    static let about = About(
        "Sign a challenge with the authentication key.",
        discussion: "Like 'ykit openpgp sign', with the key that SSH uses.",
        examples: [Example("ykit openpgp authenticate challenge.bin --output response.bin")])

    @Argument("file", help: "The file with the challenge, - for standard input.", completion: .input) var file = "-"

    @OptionGroup
    var options: OpenPGPSigningOptions

    @Option(
        "--format", help: "Format of the signature: der, raw (r and s of ECDSA one after the other) or base64.")
    var format: SignatureFormat = .der

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<OpenPGPSignatureReport> {
        try await options.sign(file, .authentication, .init(format), pin, force: replacing.force, run)
    }
}

/// The format of a signature by the signature key.
enum OpenPGPSignatureFormat: String, CaseIterable, ExpressibleByArgument {
    case der, raw, base64
    /// A detached signature of OpenPGP.
    case openpgp
    /// The same in ASCII armor.
    case armor

    /// The format of a bare signature.
    init(_ format: SignatureFormat) {
        switch format {
        case .der: self = .der
        case .raw: self = .raw
        case .base64: self = .base64
        }
    }

    /// The format, if it is one for bare signatures.
    var bare: SignatureFormat? { SignatureFormat(rawValue: rawValue) }
}

/// The options of a signature.
struct OpenPGPSigningOptions: ParsableArguments {
    @Option(
        "--hash",
        help: """
            The hash: sha256, sha384, sha512 or sha1 (default: sha256; for OpenPGP signatures, the one that fits the \
            curve); not used for bare Ed25519 signatures.
            """)
    var hash: HashChoice?

    @Flag("--digest", help: "The file contains the digest.") var digest = false

    @Option(["--output <file>", "-o"], help: "Where to write the signature.") var output = "-"

    /// A signature, as written to the output and as bytes.
    private struct Made {
        let written: [UInt8]
        let bytes: [UInt8]
        let hash: HashAlgorithm?
    }

    func sign(
        _ file: String, _ slot: OpenPGPSlot, _ format: OpenPGPSignatureFormat, _ pin: PINOptions, force: Bool,
        _ run: Run
    ) async throws -> Outcome<OpenPGPSignatureReport> {
        let target = try FileOutput(output, isText: [.base64, .armor].contains(format), force: force, run)
        let early = try file == "-" ? nil : Files.read(file)
        let service = try await run.openOpenPGP()
        let key = try await service.publicKey(slot)
        let code = try await run.openPGPPIN(pin.source, .user, of: service, for: "sign")
        let content = try early ?? Files.read(file)
        try check(content, slot, format, key)
        try await run.verify(code, for: slot == .signature ? .signing : .using, on: service)
        let made = try await run.touchingOpenPGP(slot, service) {
            try await signature(content, slot, format, key, service)
        }
        let report = OpenPGPSignatureReport(
            slot: slot, type: OpenPGPKeyType(key), hash: made.hash, bytes: made.bytes, output: output)
        return try target.put(made.written, of: report, "signature written to \(output)")
    }

    /// Refuses what the key cannot sign, before the PIN is sent.
    private func check(
        _ content: [UInt8], _ slot: OpenPGPSlot, _ format: OpenPGPSignatureFormat, _ key: PublicKey
    ) throws {
        guard format.bare != nil else {
            try OpenPGPService.hash(hash?.algorithm, of: key)
            return
        }
        let input: OpenPGPSigningInput = digest ? .digest(content) : .message(content)
        try OpenPGPService.check(input, hash: hash?.algorithm ?? .sha256, by: key, in: slot)
    }

    private func signature(
        _ content: [UInt8], _ slot: OpenPGPSlot, _ format: OpenPGPSignatureFormat, _ key: PublicKey,
        _ service: OpenPGPService
    ) async throws -> Made {
        guard let bare = format.bare else {
            let made = try await service.detachedSignature(of: content, hash: hash?.algorithm)
            return Made(
                written: format == .armor ? Array(made.armored.utf8) : made.packet, bytes: made.packet, hash: made.hash)
        }
        let input: OpenPGPSigningInput = digest ? .digest(content) : .message(content)
        let algorithm = hash?.algorithm ?? .sha256
        let signature =
            try await slot == .signature
            ? service.sign(input, hash: algorithm) : service.authenticate(input, hash: algorithm)
        return Made(
            written: try bare.encode(signature, of: key), bytes: try bare.bytes(of: signature, key),
            hash: OpenPGPKeyType(key) == .ed25519 ? nil : algorithm)
    }
}

/// A signature of the card.
struct OpenPGPSignatureReport: Report {
    let slot: OpenPGPSlot
    let type: OpenPGPKeyType
    let hash: HashAlgorithm?
    let bytes: [UInt8]
    let output: String
    static let members: [Member<OpenPGPSignatureReport>] = [
        Member("slot") { $0.slot.description },
        Member("algorithm") { $0.type.description },
        Member("hash", "null for a bare Ed25519 signature") { report in
            HashChoice.allCases.first { $0.algorithm == report.hash }?.rawValue
        },
        Member("signature", "in base64url; the packet of an OpenPGP signature") { Base64.encodeURL($0.bytes) },
        Member("output") { $0.output },
    ]
}

/// Decrypts data with the decryption key.
struct OpenPGPDecrypt: Verb {
    static let about = About(
        "Decrypt a message, or agree on a secret, with the decryption key.",
        discussion: """
            With an RSA key the file is a message as from 'openssl pkeyutl -encrypt' (PKCS#1 v1.5). With an \
            elliptic-curve key it is the peer's public key, and the result is the raw secret, as from 'openssl pkeyutl \
            -derive'. To decrypt OpenPGP messages, use gpg.
            """,
        examples: [Example("ykit openpgp decrypt secret.bin --output secret.txt")])
    typealias Reported = (type: OpenPGPKeyType, text: String?, output: String)
    static let answer = Shape<Reported>(
        Member("slot") { _ in OpenPGPSlot.decryption.description },
        Member("algorithm") { $0.type.description },
        Member("plaintext", "in base64url, unless written to a file") { $0.text },
        Member("output") { $0.output })

    @Argument("file", help: "The file, - for standard input.", completion: .input) var file = "-"

    @Option(["--output <file>", "-o"], help: "The file to write the result to.") var output = "-"

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func run(in run: Run) async throws -> Outcome<Reported> {
        let target = try FileOutput(output, isSecret: true, force: replacing.force, run)
        let early = try file == "-" ? nil : Files.read(file)
        let service = try await run.openOpenPGP()
        let key = try await service.publicKey(.decryption)
        let code = try await run.openPGPPIN(pin.source, .user, of: service, for: "decrypt")
        let content = try early ?? Files.read(file)
        let isRSA = if case .rsa = key { true } else { false }
        let peer = try isRSA ? nil : PeerKey.read(content, at: file)
        let type = OpenPGPKeyType(key)
        if let peer {
            try OpenPGPService.checkPeer(peer, for: type)
        } else {
            try OpenPGPService.checkCiphertext(content, for: type)
        }
        try await run.verify(code, for: .using, on: service)
        let result = try await run.touchingOpenPGP(.decryption, service) {
            if let peer { try await service.derive(with: peer) } else { try await service.decrypt(content) }
        }
        var bytes = result.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        let isText = String(validating: bytes, as: UTF8.self).map { $0 == $0.printable } ?? false
        return try target.put(
            bytes, isText: isText,
            of: (type: type, text: output == "-" ? Base64.encodeURL(bytes) : nil, output: output),
            "result written to \(output)")
    }
}

/// Generates random bytes.
struct OpenPGPRandom: Verb {
    static let about = About(
        "Get random bytes from the card, in hexadecimal.",
        examples: [Example("ykit openpgp random 16")])
    static let answer = Shape(Item<[UInt8]>("bytes", "in base64url") { Base64.encodeURL($0) })

    @Argument("count", help: "How many bytes.") var count = 32

    func run(in run: Run) async throws -> Outcome<[UInt8]> {
        let bytes = try await run.openOpenPGP().random(count)
        return Outcome(bytes, Hex.encode(bytes))
    }
}

/// Resets the application to its factory state.
struct OpenPGPReset: Verb {
    static let about = About(
        "Delete all OpenPGP keys, certificates and data, and restore the default PINs.",
        discussion: """
            No PIN is required: ykit uses up the tries of both PINs, once the card has shown that it can be reset. A \
            YubiKey keeps its attestation key, with its touch policy. An interrupted reset is completed. Other \
            applications of the key are not affected.
            """,
        examples: [Example("ykit openpgp reset")])
    static let answer = Shape(done: "reset")

    @OptionGroup var confirmation: Confirmation

    func run(in run: Run) async throws -> Outcome<Void> {
        var outcome = Outcome(done: "OpenPGP application reset to factory defaults")
        outcome.answer.warnings = [Warning("factory-default", "the user PIN is now 123456, and the admin PIN 12345678")]
        let service: OpenPGPService
        do { service = try await run.openOpenPGP() } catch OpenPGPError.terminated {
            // All data is already lost at this point.
            _ = try await run.choosing { try await OpenPGPService.activate(try await $0.channel()) }
            return outcome
        }
        try confirmation.ask(
            typing: "reset", "this permanently deletes all OpenPGP keys, certificates and data on this card", in: run)
        let blocking = "VERIFY with wrong values for both PINs, until they are blocked"
        for step in ["TERMINATE DF", blocking, "TERMINATE DF"] { run.describe(step) }
        try run.endPlan("ACTIVATE FILE")
        try await run.showing("resetting OpenPGP") { try await service.reset() }
        return outcome
    }
}
