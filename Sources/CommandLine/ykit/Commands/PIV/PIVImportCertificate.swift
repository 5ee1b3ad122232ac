// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire
import YKX509

/// Imports a certificate into a slot.
struct PIVImportCertificate: Verb {
    static let about = About(
        "import", "Import a certificate from a file into a slot.",
        discussion: """
            The file is PEM, DER or PKCS#12; of several certificates the first is taken. One that does not belong to \
            the key in the slot is refused, as far as the card tells its keys. The management key is needed.
            """, members: ["slot", "certificate", "compressed", "belongs"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "The file with the certificate, - for standard input.", completion: .file) var file: String

    @Flag(name: .shortAndLong, help: "Compress it, to save room on the key.") var compress = false

    @Flag(help: "Do not check whether it belongs to the key in the slot.") var noCheck = false

    @Flag(name: .shortAndLong, help: "Replace a certificate in the slot without asking.") var force = false

    @Flag(help: "Give the card a new CHUID, so that programs that cache its certificates read them again.")
    var updateChuid = false

    @OptionGroup var fileOptions: FilePasswordOptions
    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func answer(in world: World) async throws -> Answer {
        guard let certificate = try fileOptions.read(file, world).certificates.first else {
            throw Explanation("no-certificate", .notFound, "\(file.printable) holds no certificate")
        }
        let service = try await world.openPIV()
        var answer = Answer()
        let belongs = try await noCheck ? nil : check(certificate, service, &answer)
        try await KeyOverwriting(world: world, service: service, force: force).checkCertificate(slot)
        var unlocking = PIVUnlocking(world, service, pin)
        try await unlocking.manage(managementKey, for: "store a certificate")
        try await service.putCertificate(certificate.der, slot, compressed: compress, updatingCHUID: updateChuid)
        answer.lines = ["put a certificate into \(slot)"] + Table.lines(certificate.rows(at: world.now))
        answer.members["slot"] = .string(slot.description)
        answer.members["certificate"] = certificate.json
        answer.members["compressed"] = .bool(compress)
        answer.members["belongs"] = belongs.map(JSON.bool) ?? .null
        return answer
    }

    /// Checks whether it belongs to the key in the slot; returns `nil` without a key, or if the card does not report
    /// it.
    private func check(
        _ certificate: X509Certificate, _ service: PIVService, _ answer: inout Answer
    ) async throws -> Bool? {
        do {
            try await service.check(certificate, belongsTo: slot)
            return true
        } catch {
            switch error {
            case .noKey: answer.warnings.append("slot \(slot) has no key")
            case .pinRequired, .unfit:
                answer.warnings.append("the card does not tell which key is in \(slot), so it was not checked")
            default: throw error
            }
            return nil
        }
    }
}
