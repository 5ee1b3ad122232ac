// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKPIV
import YKWire

/// Exports the attestation of a key.
struct PIVAttestKey: Verb {
    static let about = About(
        "attest", "Export the attestation that a key pair was generated on this security key.",
        discussion:
            "It is signed by the key in f9, whose certificate --chain puts behind it. 'ykit piv attest' checks it.",
        members: ["slot", "format", "certificate", "chain", "output"])

    @Argument(help: PIVSlot.help) var slot: PIVSlot

    @Argument(help: "Where the certificate goes, - for standard output.", completion: .file) var file = "-"

    @Option(help: "How the certificate is written: pem or der.") var format: CertificateFormat = .pem

    @Flag(help: "Append the certificate of f9 (PEM).") var chain = false

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
