// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire
import YKX509

/// Generates a self-signed certificate.
struct PIVGenerateCertificate: Verb {
    static let about = About(
        "generate",
        "Generate a self-signed certificate for the key in a slot, and store it there.",
        discussion:
            "The PIN and the management key are needed. If the card does not report the public key, name its file.",
        members: ["slot", "certificate", "pem"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The slot's public key, if the card does not report it.", completion: .file) var publicKey: String?

    @OptionGroup
    var subject: SubjectOptions

    @Option(name: .shortAndLong, help: "How many days it is valid.") var days = 365

    @Flag(name: .shortAndLong, help: "Replace a certificate in the slot without asking.") var force = false

    @Flag(help: "Give the card a new CHUID, so that programs that cache its certificates read them again.")
    var updateChuid = false

    @OptionGroup var pin: PINOptions
    @OptionGroup var managementKey: ManagementKeyOptions

    func answer(in world: World) async throws -> Answer {
        let template = try subject.template()
        let given = try publicKey.map { try KeyFile.publicKey($0) }
        let service = try await world.openPIV()
        try await KeyOverwriting(world: world, service: service, force: force).checkCertificate(slot)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "store a certificate")
        let use = try await unlocking.prepare(
            slot, given.flatMap { PIVAlgorithm($0) }, .sign, for: "sign a certificate")
        let key = use.key ?? given
        // Numbers of days that no certificate has are refused by the service.
        let validity = Duration.seconds(min(max(days, 0), 100_000) * 86_400)
        let certificate = try await use.touching(world) {
            try await service.selfSignedCertificate(use.slot, template, validity: validity, key: key)
        }
        try await service.putCertificate(certificate.der, slot, updatingCHUID: updateChuid)
        var answer = Answer(["put a certificate into \(slot)"], [:])
        answer.lines += Table.lines(certificate.rows(at: world.now))
        answer.members["slot"] = .string(slot.description)
        answer.members["certificate"] = certificate.json
        answer.members["pem"] = .string(certificate.pem)
        return answer
    }
}
