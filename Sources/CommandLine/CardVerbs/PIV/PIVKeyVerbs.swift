// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKCrypto
import YKPIV
import YKUse
import YKWire

/// Commands for private keys.
struct PIVKeys: ParsableCommand {
    static let about = About(
        "keys", "Manage private keys in slots.",
        subcommands: [
            PIVGenerateKey.self, PIVImportKey.self, PIVKeyInfo.self, PIVExportKey.self, PIVMoveKey.self,
            PIVDeleteKey.self, PIVAttestKey.self,
        ])
}

/// Generates a key pair.
struct PIVGenerateKey: Verb {
    static let about = About(
        "generate", "Generate a key pair on the security key. The private key never leaves it.",
        discussion: """
            The public key is written as PEM by default. The management key is required. RSA takes from seconds to \
            minutes.
            """, members: ["slot", "algorithm", "pinPolicy", "touchPolicy", "format", "publicKey", "output"])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "Where the public key goes, - for standard output.", completion: .file) var file = "-"

    @Option(
        ["--algorithm", "-a"],
        help: "The kind of key: rsa1024, rsa2048, rsa3072, rsa4096, ecc-p256, ecc-p384, ed25519 or x25519.")
    var algorithm: PIVAlgorithm = .p256

    @OptionGroup
    var policies: KeyPolicyOptions

    @Option("--format", help: "How the public key is written: pem, der, ssh or age.") var format: PublicKeyFormat = .pem

    @Flag(["--force", "-f"], help: "Replace a key in the slot without asking, and the output file if it exists.")
    var force = false

    @Flag("--allow-weak-rsa", help: "Make an RSA key also on firmware whose RSA keys can be broken (ROCA).")
    var allowWeakRsa = false

    @OptionGroup var management: PIVManagementOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format.isText, force: force, world)
        let service = try await world.openPIV(isPatient: algorithm.modulusSize != nil)
        try await service.checkFit(slot, algorithm, policies.policies)
        try await world.overwriting(service, force: force)?.confirmKey(in: slot)
        try await management.unlock(service, for: "make a key", world)
        let progress = algorithm.modulusSize.map { _ in Progress(world.terminal, "making an \(algorithm) key") }
        defer { progress?.end() }
        let key = try await service.generateKey(
            slot, algorithm, policies: policies.policies, allowingWeakRSA: allowWeakRsa)
        progress?.end()
        let bytes = try format.encode(key, comment: "PIV-\(slot)")
        var answer = Answer("made an \(algorithm) key in \(slot), its public key is in \(file)", [:])
        output.keep(
            bytes, &answer, orElse: "the key is made; write its public key with: ykit piv keys export \(slot) FILE")
        if answer.failure == nil { answer.failure = await policies.problem(of: slot, service) }
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = .string(algorithm.description)
        answer.members["pinPolicy"] = .string(policies.pinPolicy.description)
        answer.members["touchPolicy"] = .string(policies.touchPolicy.description)
        answer.members["format"] = .string(format.rawValue)
        answer.members["publicKey"] = format.json(bytes)
        answer.members["output"] = .string(file)
        return answer
    }

    func check() throws {
        if format == .age, algorithm != .x25519, algorithm != .p256 {
            throw UsageError("an age recipient is an x25519 or ecc-p256 key")
        }
        if format == .ssh, algorithm == .x25519 { throw UsageError("SSH has no form for an x25519 key") }
    }
}

/// Imports a private key into a slot.
struct PIVImportKey: Verb {
    static let about = About(
        "import", "Import a private key from a file into a slot.",
        discussion: """
            The file is PEM, DER, PKCS#12 or a private key of OpenSSH, encrypted or not. The management key is required. \
            An imported key cannot be attested.
            """, members: ["slot", "algorithm", "pinPolicy", "touchPolicy", "publicKey", "certificates"])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file with the private key, - for standard input.", completion: .file) var file: String

    @OptionGroup
    var policies: KeyPolicyOptions

    @Flag(["--force", "-f"], help: "Replace a key in the slot without asking.") var force = false

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var management: PIVManagementOptions

    func answer(in world: World) async throws -> Answer {
        let (key, content) = try fileOptions.privateKey(file, world)
        let service = try await world.openPIV()
        if let algorithm = PIVAlgorithm(key.publicKey) {
            try await service.checkFit(slot, algorithm, policies.policies)
        }
        try await world.overwriting(service, force: force)?.confirmKey(in: slot)
        try await management.unlock(service, for: "import a key", world)
        let algorithm = try await service.importKey(key, slot, policies: policies.policies)
        var answer = Answer("put an \(algorithm) key into \(slot)", [:])
        answer.failure = await policies.problem(of: slot, service)
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = .string(algorithm.description)
        answer.members["pinPolicy"] = .string(policies.pinPolicy.description)
        answer.members["touchPolicy"] = .string(policies.touchPolicy.description)
        answer.members["publicKey"] = .string(PEM.encode("PUBLIC KEY", key.publicKey.subjectPublicKeyInfo))
        answer.members["certificates"] = .int(Int64(content.certificates.count))
        if !content.certificates.isEmpty {
            answer.lines.append("the file has a certificate, too: ykit piv certificates import \(slot) \(file)")
        }
        return answer
    }
}

/// Shows the metadata of a key.
struct PIVKeyInfo: Verb {
    static let about = About(
        "info", "Show what the card reports about a key. Needs no PIN.",
        discussion: "Cards before firmware 5.3 say only what an attestation or a certificate tells.",
        members: ["slot", "algorithm", "origin", "pinPolicy", "touchPolicy", "publicKey"])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        var answer = Answer()
        answer.members["slot"] = .string(slot.description)
        guard let metadata = try await service.metadata(of: slot) else {
            let key = try await service.publicKey(slot)
            let algorithm = PIVAlgorithm(key)?.description
            answer.members["algorithm"] = algorithm.map(JSONValue.string)
            answer.members["publicKey"] = .string(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo))
            answer.lines = Table.details([["slot", "\(slot), \(slot.name)"], ["algorithm", algorithm ?? "not known"]])
            return answer
        }
        metadata.add(to: &answer.members)
        answer.lines = Table.details([
            ["slot", "\(slot), \(slot.name)"], ["algorithm", metadata.algorithm.description],
            ["origin", metadata.origin?.description ?? "not told"], ["PIN policy", metadata.policies.pin.description],
            ["touch policy", metadata.policies.touch.description],
        ])
        return answer
    }
}

/// Exports a public key.
struct PIVExportKey: Verb {
    static let about = About(
        "export", "Export the public key of a slot. Private keys never leave the security key.",
        discussion: """
            --format ssh gives a line for authorized_keys, --format age a recipient from an x25519 or ecc-p256 key. The \
            key that the card reports is used first, then that of an attestation, then that of the slot's certificate.
            """, members: PublicKeyExport.members)

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var export: PublicKeyExport

    func answer(in world: World) async throws -> Answer {
        let output = try export.output(world)
        let service = try await world.openPIV()
        let key = try await service.publicKey(slot)
        return try export.write(
            key, of: slot, algorithm: PIVAlgorithm(key)?.description, comment: "PIV-\(slot)", to: output)
    }
}

/// Exports the attestation of a key.
struct PIVAttestKey: Verb {
    static let about = About(
        "attest", "Export the attestation that a key pair was generated on this security key.",
        discussion:
            "It is signed by the key in f9, whose certificate --chain puts behind it. 'ykit piv attest' checks it.",
        members: ["slot", "format", "certificate", "chain", "output"])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "Where the certificate goes, - for standard output.", completion: .file) var file = "-"

    @Option("--format", help: "How the certificate is written: pem, der or ssh.") var format: CertificateFormat = .pem

    @Flag("--chain", help: "Append the certificate of f9 (PEM).") var chain = false

    @OptionGroup var replacing: OutputOptions

    func check() throws {
        if chain, format != .pem { throw UsageError("--chain writes PEM") }
    }

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format.isText, force: replacing.force, world)
        let service = try await world.openPIV()
        let attestation = try await service.attest(slot)
        let device = try await chain ? service.certificate(.attestation) : nil
        let bytes = try format.encode(attestation) + Array((device?.pem ?? "").utf8)
        var answer = Answer("the attestation of the key in \(slot) is in \(file)", [:])
        try output.put(bytes, &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["format"] = .string(format.rawValue)
        answer.members["certificate"] = try format.json(attestation)
        answer.members["chain"] = device.map { .string($0.pem) } ?? .null
        answer.members["output"] = .string(file)
        return answer
    }
}

/// Moves a key to another slot.
struct PIVMoveKey: Verb {
    static let about = About(
        "move", "Move a key to another slot (firmware 5.7 and later).",
        discussion: "Its certificate stays where it is. The management key is needed.", members: ["from", "to"])

    @Argument("from", help: "The source slot.") var from: PIVSlot

    @Argument("to", help: "The destination slot.") var to: PIVSlot

    @Flag(["--force", "-f"], help: "Replace a key in the destination slot without asking.") var force = false

    @OptionGroup var management: PIVManagementOptions

    func check() throws {
        if from == to { throw UsageError("a key is moved to another slot") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        let replacing = try await world.overwriting(service, force: force)?.confirmKey(in: to) ?? force
        try await management.unlock(service, for: "move a key", world)
        try await service.moveKey(from: from, to: to, replacing: replacing)
        return Answer(
            "moved the key from \(from) to \(to)", ["from": .string(from.description), "to": .string(to.description)])
    }
}

/// Deletes a key.
struct PIVDeleteKey: Verb {
    static let about = About(
        "delete", "Delete a key for good (firmware 5.7 and later).",
        discussion: "Its certificate stays: ykit piv certificates delete. The management key is needed.",
        members: ["slot"])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var management: PIVManagementOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openPIV()
        try confirmation.ask("delete the key in \(slot) for good?", in: world)
        try await management.unlock(service, for: "delete a key", world)
        try await service.deleteKey(slot)
        return Answer("deleted the key in \(slot)", ["slot": .string(slot.description)])
    }
}
