// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKRelyingParty
import YKTransport
import YKWire

/// Commands for attestations.
package struct AttestGroup: ParsableCommand {
    package static let about = About(
        "Attestations: proof that a key was generated in hardware.",
        discussion: """
            'verify' needs no key, only files. 'challenge' makes the random text that a key signs with 'prove', which \
            shows that the attested key is at hand.
            """,
        subcommands: ["verify": AttestVerify.self, "challenge": AttestChallenge.self, "prove": AttestProve.self],
        examples: [
            Example("ykit attest challenge"), Example("ykit attest verify attestation.pem"),
        ])

    package init() {}
}

/// Verifies attestations from files.
struct AttestVerify: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Verify attestations from files. Needs no key.",
        discussion: """
            Files in any order, recognized by their content: attestations of PIV and OpenPGP keys with the certificate \
            that signed them, certificate requests and certificates that contain an attestation, what 'ykit attest \
            prove' writes, attestations of 'ssh-keygen' and 'ykit ssh generate', WebAuthn registrations in JSON or of \
            fido2-cred, statements for ACME (step), and recordings of a card; PEM, DER or base64. They must chain to \
            Yubico's roots, or with --root to others. An SSH attestation is checked with the challenge it answers, the \
            ACME statement with --challenge TOKEN.THUMBPRINT.

            The exit code is 0 if everything is proven; 8 if something does not match, is not checked, or chains to no \
            trusted root; 15 for keys that are imported, not attested or of a compromised model, and if --require is \
            not met; 11 for unsupported and 13 for malformed files.
            """,
        examples: [
            Example("ykit attest verify attestation.pem --require 'touch=always,firmware>=5.7'"),
            Example("ykit attest verify request.pem --root root.pem", "A request made with --attest."),
        ])
    static let answer = Shape(Item<[AttestationReport]>("verdicts", "one for each attestation"))

    @Argument("files", help: "Files, or -.", completion: .file) var files: [String]

    @Option(
        "--for <file>", help: "The key that must be attested: a public key (PEM, DER, SSH), certificate or request.",
        completion: .file)
    var subject: String?

    @OptionGroup var challenge: ChallengeOptions

    @Option(
        "--require <conditions>",
        help: """
            Conditions, separated by commas: touch=always, pin=once, slot=9a, serial=12345678, firmware>=5.7, fips, \
            generated; alternatives as in touch=always|cached.
            """)
    var require: String?

    @OptionGroup var trusted: TrustedCertificates
    @OptionGroup var metadata: MetadataOptions

    func check() throws {
        if files.filter({ $0 == "-" }).count > 1 { throw UsageError("standard input can be read only once") }
    }

    func run(in run: Run) throws -> Outcome<[AttestationReport]> {
        let judge = try judge(run)
        var evidence = AttestationEvidence()
        for file in files {
            let bytes = try Files.read(file)
            do throws(AttestationError) { try evidence.add(bytes) } catch { throw Concerning(.file(file), error) }
        }
        let verdicts = judge.verdicts(on: evidence)
        let reports = verdicts.map { AttestationReport(verdict: $0) }
        let tables = reports.map { Table.details($0.rows) }
        var outcome = Outcome(reports, Array(tables.joined(separator: [""])))
        outcome.answer.failure = verdicts.lazy.compactMap(\.findings.first).first.map { Explanation($0) }
        return outcome
    }

    private func judge(_ run: Run) throws -> AttestationJudge {
        var judge = AttestationJudge(at: run.now)
        if let require { judge.requirements = try AttestationRequirement.list(require) }
        (judge.roots, judge.intermediates) = try trusted.certificates()
        judge.challenge = try challenge.value()
        judge.metadata = try metadata.list(in: run).map { MetadataPolicy($0) }
        if let subject {
            let bytes = try Files.read(subject)
            do throws(AttestationError) { judge.subject = try AttestedSubject(parsing: bytes) } catch {
                throw Concerning(.file(subject), error)
            }
        }
        return judge
    }
}

/// Makes a challenge.
struct AttestChallenge: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Make a random challenge for an attested key.",
        discussion: """
            Keep it until the answer comes, accept each only once, and give it to 'ykit attest verify'. For SSH, 'ykit \
            ssh generate' and 'ssh-keygen -O challenge' read it from the file.
            """,
        examples: [Example("ykit attest challenge challenge.txt")])
    typealias Reported = (text: String, output: String)
    static let answer = Shape<Reported>(
        Member("challenge", "256 random bits, base64url") { $0.text }, Member("output") { $0.output })

    @Argument("file", help: "The file to write the challenge to, - for standard output.", completion: .file)
    var file = "-"

    @OptionGroup var replacing: OutputOptions

    func run(in run: Run) throws -> Outcome<Reported> {
        let output = try FileOutput(file, isText: true, force: replacing.force, run)
        let text = Base64.encodeURL(try run.environment.random.draw(32, secret: false))
        return try output.put(
            Array((file == "-" ? text + "\n" : text).utf8), of: (text: text, output: file),
            "challenge written to \(file)")
    }
}
