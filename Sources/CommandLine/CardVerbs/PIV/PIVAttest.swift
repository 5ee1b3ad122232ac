// SPDX-License-Identifier: Apache-2.0

import Arguments
import Verbs
import YKManagement
import YKPIV
import YKTransport
import YKWire
import YKX509

/// Shows the content of an attestation, and verifies it.
struct PIVAttest: Verb {
    static let about = About(
        "attest", "Verify that a key pair was generated on this security key.",
        discussion: """
            The attestation is checked against the certificate of f9, and up to Yubico's certificates, or with \
            --root up to those of another maker. The exit code is 8 when no path leads to one of them; to trust one \
            key alone, export its f9 and name that with --root. 'ykit piv keys attest' writes the attestation into a \
            file.
            """,
        members: [
            "slot", "algorithm", "firmware", "serial", "pinPolicy", "touchPolicy", "formFactor", "chain", "rooted",
            "reason", "attestation", "device",
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @OptionGroup var trusted: TrustedCertificates

    func answer(in world: World) async throws -> Answer {
        let chain = try trusted.chain(orElse: .yubico)
        let service = try await world.openPIV()
        let attestation = try await service.attest(slot)
        let device = try await service.certificate(.attestation)
        let facts = try PIVAttestation(attestation)
        var answer = Answer()
        do throws(PIVError) {
            let path = try chain.verify(attestation, device: device, at: world.now)
            Self.describe(facts, attestation, path, &answer)
        } catch {
            guard case .chain(let problem) = error else { throw error }
            // The statement of an unknown device is shown; one signed by a different key is not.
            if problem != .notSignedByDevice { Self.describe(facts, attestation, [attestation, device], &answer) }
            answer.failure = Explain.chain(problem)
        }
        answer.members["rooted"] = .bool(answer.failure == nil)
        answer.members["reason"] = answer.failure.map { .string($0.message) } ?? .null
        answer.members["serial"] = facts.serial.flatMap(Int64.init(exactly:)).map(JSONValue.int) ?? .null
        answer.members["slot"] = .string(slot.description)
        answer.members["attestation"] = .string(attestation.pem)
        answer.members["device"] = .string(device.pem)
        return answer
    }

    private static func describe(
        _ facts: PIVAttestation, _ attestation: X509Certificate, _ path: [X509Certificate], _ answer: inout Answer
    ) {
        let algorithm = attestation.publicKey.flatMap { PIVAlgorithm($0)?.description }
        let members: [(name: String, title: String, value: String?)] = [
            ("algorithm", "algorithm", algorithm), ("firmware", "firmware", facts.firmware?.description),
            ("serial", "serial", facts.serial.map(String.init)),
            ("pinPolicy", "PIN policy", facts.policies?.pin.description),
            ("touchPolicy", "touch policy", facts.policies?.touch.description),
            ("formFactor", "form factor", facts.formFactor.map { Hex.encode([$0]) }),
        ]
        for member in members { answer.members[member.name] = member.value.map(JSONValue.string) ?? .null }
        answer.members["chain"] = .array(path.dropFirst().map { .string($0.subject.description) })
        let signers = path.dropFirst().map(\.subject.description.printable).listed()
        let form = facts.formFactor.map { FormFactor(rawValue: $0 & 0x0F).description }
        let words =
            members.dropLast().map { [$0.title, $0.value ?? "not told"] } + [["form factor", form ?? "not told"]]
        answer.lines = Table.details(words + [["signed by", signers]])
    }
}
