// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire

/// Imports a private key into a slot.
struct PIVImportKey: Verb {
    static let about = About(
        "import", "Import a private key from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12, encrypted or not. The management key is needed. An imported key cannot \
            be attested.
            """, members: ["slot", "algorithm", "pinPolicy", "touchPolicy", "publicKey", "certificates"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The file with the private key, - for standard input.", completion: .file) var file: String

    @OptionGroup
    var policies: KeyPolicyOptions

    @Flag(name: .shortAndLong, help: "Replace a key in the slot without asking.") var force = false

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        let content = try fileOptions.read(file, world)
        guard let key = content.privateKey else {
            throw Explanation("no-private-key", .notFound, "\(file.printable) holds no private key")
        }
        let service = try await world.openPIV()
        try await KeyOverwriting(world: world, service: service, force: force).check(slot)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "import a key")
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
