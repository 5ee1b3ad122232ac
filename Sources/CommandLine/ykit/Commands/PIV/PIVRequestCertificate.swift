// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire
import YKX509

/// Creates a certificate signing request.
struct PIVRequestCertificate: Verb {
    static let about = About(
        "request", "Generate a certificate request (PKCS#10) for the key in a slot.",
        discussion: "The PIN is needed. If the card does not report the public key, name its file with --public-key.",
        members: ["slot", "subject", "format", "request", "output"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "Where the request goes, - for standard output.", completion: .file) var file = "-"

    @OptionGroup
    var subject: SubjectOptions

    @Option(
        help: ArgumentHelp("The slot's public key, if the card does not report it.", valueName: "file"),
        completion: .file)
    var publicKey: String?

    @Option(help: "How the request is written: pem or der.") var format: RequestFormat = .pem

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// The format of a request.
    enum RequestFormat: String, CaseIterable, ExpressibleByArgument {
        case pem, der
    }

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format == .pem, force: replacing.force, world)
        let template = try subject.template()
        let given = try publicKey.map { try KeyFile.publicKey($0) }
        let service = try await world.openPIV()
        var unlocking = PIVUnlocking(world, service, pin)
        let use = try await unlocking.prepare(slot, given.flatMap { PIVAlgorithm($0) }, .sign, for: "sign a request")
        let key = use.key ?? given
        let der = try await use.touching(world) {
            try await service.certificateRequest(use.slot, template, key: key)
        }
        let pem = PEM.encode("CERTIFICATE REQUEST", der)
        var answer = Answer("the request for \(template.subject.description.printable) is in \(file)", [:])
        try output.put(format == .pem ? Array(pem.utf8) : der, &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["subject"] = .string(template.subject.description)
        answer.members["format"] = .string(format.rawValue)
        answer.members["request"] = .string(format == .pem ? pem : Base64.encodeURL(der))
        answer.members["output"] = .string(file)
        return answer
    }
}
