// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Exports a certificate.
struct PIVExportCertificate: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the certificate of a slot. Needs no PIN.",
        discussion: "--format ssh gives its public key as a line for authorized_keys.")
    static let members = ["slot", "format", "certificate", "output"]

    @Argument(help: PIVSlot.help)
    var slot: PIVSlot

    @Argument(help: "Where the certificate goes, - for standard output.", completion: .file)
    var file = "-"

    @Option(help: "How the certificate is written: pem, der or ssh.")
    var format: CertificateFormat = .pem

    @OptionGroup var replacing: OutputOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format.isText, force: replacing.force, world)
        let service = try await world.openPIV()
        let certificate = try await service.certificate(slot)
        var answer = Answer("the certificate of \(slot) is in \(file)", [:])
        try output.put(format.encode(certificate), &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["format"] = .string(format.rawValue)
        answer.members["certificate"] = try format.json(certificate)
        answer.members["output"] = .string(file)
        return answer
    }
}
