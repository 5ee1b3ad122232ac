// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKCrypto
import YKPIV
import YKTransport
import YKUse
import YKWire
import YKX509

/// Proves that an attested key is at hand.
struct AttestProve: Verb {
    static let about = About(
        "Attest a PIV key, and sign a challenge with it.",
        discussion: """
            The file has the attestation, the certificate in f9, and the signature over the challenge, in PEM; 'ykit \
            attest verify --challenge' verifies it. With --format step it is the answer to the ACME challenge \
            device-attest-01, for RSA, P-256 and Ed25519 keys. The PIN is needed if the key requires it.
            """,
        examples: [
            Example("ykit attest prove 9a proof.pem --challenge-file challenge.txt"),
            Example("ykit attest prove 9a acme.json --format step --token TOKEN --thumbprint PRINT"),
        ])

    @Argument("slot", help: PIVSlot.help) var slot: PIVSlot

    @Argument("file", help: "The file to write the proof to, - for standard output.", completion: .file) var file = "-"

    @OptionGroup var challenge: ChallengeOptions

    /// The form of the result.
    enum ProofFormat: String, CaseIterable, ExpressibleByArgument {
        case pem, step
    }

    @Option("--format", help: "Format of the proof: pem or step.") var format: ProofFormat = .pem

    @Option("--token <text>", help: "The token of the ACME challenge, for --format step.") var token: String?

    @Option("--thumbprint <text>", help: "The thumbprint of the ACME account's key, for --format step.")
    var thumbprint: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        let hasChallenge = challenge.challenge != nil || challenge.challengeFile != nil
        switch format {
        case .pem:
            guard hasChallenge else { throw UsageError("missing --challenge or --challenge-file") }
            guard token == nil, thumbprint == nil else {
                throw UsageError("--token and --thumbprint need --format step")
            }
        case .step:
            guard token != nil, thumbprint != nil else {
                throw UsageError("--format step needs --token and --thumbprint")
            }
            guard !hasChallenge else {
                throw UsageError("--format step takes --token and --thumbprint, no --challenge")
            }
        }
    }

    /// What was proved.
    struct Proof: Report {
        let slot: PIVSlot
        let attestation: X509Certificate
        let device: X509Certificate
        let signature: [UInt8]
        let output: String
        static let members: [Member<Self>] = [
            Member("slot") { $0.slot.description },
            Member("attestation", "PEM") { $0.attestation.pem },
            Member("deviceCertificate", "in f9, PEM") { $0.device.pem },
            Member("signature", "over the challenge, base64url") { Base64.encodeURL($0.signature) },
            Member("output") { $0.output },
        ]
    }

    func run(in run: Run) async throws -> Outcome<Proof> {
        let message = try message()
        let output = try FileOutput(file, isText: true, force: replacing.force, run)
        let service = try await run.openPIV()
        let attested = try await AttestedSlot(slot, service)
        try attested.check()
        let device = try await service.certificate(.attestation)
        guard let key = attested.statement.publicKey, let algorithm = PIVAlgorithm(key) else {
            throw Explanation("not-supported", .notSupported, "a key of this type is not supported here")
        }
        if format == .step, !StepStatement.accepts(key) {
            throw Explanation(
                "not-supported", .notSupported, "step-ca does not accept \(algorithm) keys",
                hint: "generate an ecc-p256, RSA or ed25519 key")
        }
        let unlocking = run.piv(service, pin)
        let use = try await unlocking.prepare(slot, algorithm, .sign, for: "sign a challenge")
        let signature = try await use.touching(run.person) {
            try await service.sign(.message(message), use.slot, algorithm: use.algorithm, key: key)
        }
        let report = Proof(
            slot: slot, attestation: attested.statement, device: device, signature: signature, output: file)
        return try output.put(
            content(report, message, key), of: report, "proof for the key in \(slot) written to \(file)")
    }

    /// What the key signs.
    private func message() throws -> [UInt8] {
        if let token, let thumbprint { return Array("\(token).\(thumbprint)".utf8) }
        let challenge = try challenge.value()?.text ?? []
        guard AttestationProof.challengeLength.contains(challenge.count) else {
            throw Explanation.usage("a challenge must have 1 to \(AttestationProof.challengeLength.upperBound) bytes")
        }
        return AttestationProof.message(challenge)
    }

    private func content(_ proof: Proof, _ message: [UInt8], _ key: PublicKey) throws -> [UInt8] {
        switch format {
        case .pem:
            let challenge = try challenge.value()?.text ?? []
            let block = AttestationProof(challenge: challenge, signature: proof.signature)
            return Array((proof.attestation.pem + proof.device.pem + block.pem).utf8)
        case .step:
            let own = Self.intermediates(proof.attestation, proof.device)
            let statement = StepStatement(
                certificates: [proof.attestation.der, proof.device.der] + own, signature: proof.signature, of: key)
            let object: JSONValue = ["attObj": .string(Base64.encodeURL(statement?.encoded ?? []))]
            return Array((object.text + "\n").utf8)
        }
    }

    /// The intermediate certificates of the maker that the card does not hold.
    private static func intermediates(_ statement: X509Certificate, _ device: X509Certificate) -> [[UInt8]] {
        let path = try? AttestationChain.yubico.verify(statement, device: device, at: device.notBefore)
        return path.map { $0.dropFirst(2).dropLast().map(\.der) } ?? []
    }
}

/// The attestation of a slot, and what the card reports apart from it.
struct AttestedSlot {
    let statement: X509Certificate
    let slot: PIVSlot
    let serial: UInt32?
    let metadata: SlotMetadata?

    /// Reads it from the card. A card without serial number or metadata leaves these out.
    init(_ slot: PIVSlot, _ service: PIVService) async throws {
        self.slot = slot
        statement = try await service.attest(slot)
        serial = try await service.serial()
        do { metadata = try await service.metadata(of: slot) } catch {
            // A card that attests a key but reports none leaves only the statement.
            guard case .noKey = error else { throw error }
            metadata = nil
        }
    }

    /// What a judge compares the statement with.
    var card: AttestationJudge.Card { .piv(slot: slot, serial: serial, key: metadata?.publicKey) }

    /// Refuses a statement that is for another slot, card or key.
    func check() throws {
        let differences = try PIVAttestation(statement).differences(
            statement, slot: slot, serial: serial, key: metadata?.publicKey)
        if let difference = differences.first { throw Explanation(AttestationFinding(difference)) }
    }

    /// Signs a random challenge, if the key requires neither PIN nor touch by its attestation and by the card.
    ///
    /// - Returns: The challenge and its answer; `nil` if the key requires either or cannot sign.
    func proof(_ service: PIVService, _ run: Run) async throws -> AttestationProof? {
        guard let stated = try PIVAttestation(statement).policies, stated == Self.silent,
            metadata.map({ $0.policies == Self.silent }) ?? false,
            let key = statement.publicKey, let algorithm = PIVAlgorithm(key), algorithm != .x25519
        else { return nil }
        let challenge = try run.environment.random.draw(32, secret: false)
        let signature = try await service.sign(
            .message(AttestationProof.message(challenge)), slot, algorithm: algorithm)
        return AttestationProof(challenge: challenge, signature: signature)
    }

    private static let silent = KeyPolicies(pin: .never, touch: .never)
}
