// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Exports a public key.
struct PIVExportKey: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export the public key of a slot. Private keys never leave the security key.",
        discussion: """
            --format ssh gives a line for authorized_keys, --format age a recipient from an x25519 or ecc-p256 key. The \
            key that the card reports is used first, then that of an attestation, then that of the slot's certificate.
            """)
    static let members = ["slot", "algorithm", "format", "publicKey", "output"]

    @Argument(help: PIVSlot.help)
    var slot: PIVSlot

    @Argument(help: "Where the public key goes, - for standard output.", completion: .file)
    var file = "-"

    @Option(help: "How the public key is written: pem, der, ssh or age.")
    var format: PublicKeyFormat = .pem

    @Option(help: "The comment at the end of an SSH line.")
    var comment: String?

    @OptionGroup var replacing: OutputOptions

    func answer(in world: World) async throws -> Answer {
        let output = try FileOutput(file, isText: format.isText, force: replacing.force, world)
        let service = try await world.openPIV()
        let key = try await service.publicKey(slot)
        let bytes = try format.encode(key, comment: comment ?? "PIV-\(slot)")
        var answer = Answer("the public key of \(slot) is in \(file)", [:])
        try output.put(bytes, &answer)
        answer.members["slot"] = .string(slot.description)
        answer.members["algorithm"] = PIVAlgorithm(key).map { .string($0.description) } ?? .null
        answer.members["format"] = .string(format.rawValue)
        answer.members["publicKey"] = format.json(bytes)
        answer.members["output"] = .string(file)
        return answer
    }
}
