// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Generates a key pair.
struct PIVGenerateKey: Verb {
    static let about = About(
        "generate", "Generate a key pair on the security key. The private key never leaves it.",
        discussion: """
            The public key is written as PEM by default. The management key is required. RSA takes from seconds to \
            minutes.
            """, members: ["slot", "algorithm", "pinPolicy", "touchPolicy", "format", "publicKey", "output"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "Where the public key goes, - for standard output.", completion: .file) var file = "-"

    @Option(
        name: .shortAndLong,
        help: "The kind of key: rsa1024, rsa2048, rsa3072, rsa4096, ecc-p256, ecc-p384, ed25519 or x25519.")
    var algorithm: PIVAlgorithm = .p256

    @OptionGroup
    var policies: KeyPolicyOptions

    @Option(help: "How the public key is written: pem, der, ssh or age.") var format: PublicKeyFormat = .pem

    @Flag(
        name: .shortAndLong, help: "Replace a key in the slot without asking, and the output file if it exists."
    )
    var force = false

    @Flag(help: "Make an RSA key also on firmware whose RSA keys can be broken (ROCA).") var allowWeakRsa = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format.isText, force: force, world)
        let service = try await world.openPIV(isPatient: algorithm.modulusSize != nil)
        try await KeyOverwriting(world: world, service: service, force: force).check(slot)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "make a key")
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
