// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import Words
import YKCrypto
import YKFIDO
import YKRelyingParty
import YKTransport
import YKWire

/// Verifies a registration or an assertion as a relying party does, without a key.
struct FIDO2Verify: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "verify",
        "Verify a registration or an assertion as a relying party does. Needs no key.",
        discussion: """
            FILE is the output of 'ykit --json fido2 register' or 'assert', or WebAuthn's RegistrationResponseJSON or \
            AuthenticationResponseJSON. An assertion is checked with --registration or --public-key. With --format \
            libfido2 it is what fido2-cred -M or, with --public-key, fido2-assert -G wrote; a valid credential is \
            printed as by fido2-cred -V. The exit code is 8 if it does not verify.
            """,
        examples: [
            Example("ykit fido2 verify registration.json --origin https://example.com"),
            Example("ykit fido2 verify assertion.json --registration registration.json"),
        ])

    @Argument("file", help: "A registration or assertion, or - for standard input.", completion: .input) var file:
        String

    @Option("--rp <id>", help: "The expected relying party; the origin's host by default.") var rp: String?

    @Option("--origin", help: "The expected origin.") var origin: String?

    @Option("--challenge <bytes>", isBase64URL: true, help: "The expected challenge, base64url.") var challenge: String?

    @Flag("--uv", help: "Require user verification.") var uv = false

    @Flag("--no-touch", help: "Do not require user presence.") var noTouch = false

    @Option("--registration <file>", help: "The registration of the credential.") var registration: String?

    @Option("--public-key <file>", help: "The public key of the credential, PEM.") var publicKey: String?

    @Option("--trust <file>", help: "Trusted certificates, PEM; an attestation that chains to none of them is refused.")
    var trust: String?

    @OptionGroup var metadata: MetadataOptions

    @Option("--format", among: [.webauthn, .libfido2], help: "Format of FILE: webauthn or libfido2.")
    var format: ExchangeFormat = .webauthn

    func check() throws {
        try metadata.check()
        if metadata.metadata != nil, trust != nil {
            throw UsageError("--trust and --metadata cannot be combined")
        }
        if registration != nil, publicKey != nil {
            throw UsageError("--registration and --public-key cannot be combined")
        }
    }

    func run(in run: Run) throws -> Outcome<VerificationReport> {
        let response = try format == .libfido2 ? libFIDO2Response() : Self.response(json: file)
        var report = VerificationReport(response)
        let list = try metadata.list(in: run)
        if list != nil, !response.isRegistration {
            throw Explanation.usage("--metadata is for registrations: an assertion does not name the model")
        }
        do {
            try verify(response, list, &report, run)
        } catch let problem as VerificationProblem {
            report.refuse(problem.words)
        } catch let refusal as Refusal {
            report.refuse(refusal.reason)
        }
        var outcome = Outcome(report, format == .libfido2 ? report.libFIDO2Lines : report.lines)
        outcome.answer.failure = report.failure
        return outcome
    }

    private func libFIDO2Response() throws(Explanation) -> ResponseFile {
        try Files.parse(file) { bytes throws(FormatError) in
            if publicKey == nil {
                try ResponseFile(libFIDO2Registration: bytes)
            } else {
                try ResponseFile(libFIDO2Assertion: bytes)
            }
        }
    }

    private static func response(json file: String) throws(Explanation) -> ResponseFile {
        try Files.parse(file, hint: "it must be a registration or an assertion, as --json prints it") {
            bytes throws(FormatError) in try ResponseFile(json: bytes)
        }
    }

    private func verify(
        _ response: ResponseFile, _ list: MetadataBLOB?, _ report: inout VerificationReport, _ run: Run
    ) throws {
        try checkClientData(response, &report)
        let rpID = try rp ?? response.rpID ?? party(response, &report)
        report.rpID = rpID
        switch response.content {
        case .registration(let object):
            var check = AttestationVerification(rpID: rpID)
            check.requiresUserVerification = uv
            check.requiresPresence = !noTouch
            if let trust { check.anchors = TrustAnchors(try Self.certificates(trust)) }
            check.clock = run.environment.clock
            report.isAnchored = trust != nil || list != nil
            if let list {
                try assess(object, response.clientDataHash, check, list, &report)
            } else {
                report.trust = try check.check(object, clientDataHash: response.clientDataHash)
            }
        case .assertion(let data, let signature):
            let key = try key(for: response)
            var check = AssertionVerification(rpID: rpID, publicKey: key)
            check.requiresUserVerification = uv
            check.requiresPresence = !noTouch
            try check.check(data, signature: signature, clientDataHash: response.clientDataHash)
        }
    }

    /// Checks an attestation with the list of models.
    private func assess(
        _ object: AttestationObject, _ clientDataHash: [UInt8], _ check: AttestationVerification,
        _ list: MetadataBLOB, _ report: inout VerificationReport
    ) throws {
        let aaguid = object.authenticatorData.credential?.aaguid ?? []
        report.model = ModelReport(aaguid, in: list, at: check.clock.now)
        do throws(CeremonyError) {
            let (trust, entry) = try MetadataPolicy(list).assess(object, clientDataHash, check)
            report.trust = trust
            report.model = ModelReport(aaguid, in: list, entry: entry, at: check.clock.now)
        } catch {
            switch error {
            case .attestation(let problem): throw problem
            case .model(.unknown): throw Refusal(reason: "its model is not in the metadata list")
            case .model(let refusal): throw Refusal(reason: "its model is refused: \(refusal.description.printable)")
            default: throw error
            }
        }
    }

    /// The relying party if none was given: the origin's host, or the parent domain whose hash the key signed.
    private func party(_ response: ResponseFile, _ report: inout VerificationReport) throws -> String {
        report.notChecked.append("relying party")
        let host = try Origin(report.origin ?? "").host
        let labels = host.split(separator: ".")
        let domains = labels.indices.dropLast().map { labels[$0...].joined(separator: ".") }
        return domains.first { HashAlgorithm.sha256.hash($0.utf8) == response.authenticatorData.rpIDHash } ?? host
    }

    /// Checks the client data, and notes what was not requested.
    private func checkClientData(_ response: ResponseFile, _ report: inout VerificationReport) throws {
        guard let data = response.clientData else { return }
        report.origin = data.origin
        let wanted: ClientData.Kind = response.isRegistration ? .create : .get
        guard data.type == wanted else {
            throw Refusal(reason: "the client data are of type \(data.type.rawValue.printable)")
        }
        if let challenge {
            guard try BytesArgument.base64(challenge, "--challenge") == data.challenge else {
                throw Refusal(reason: "it answers a different challenge")
            }
        } else {
            report.notChecked.append("challenge")
        }
        if let origin {
            guard try Origin(origin).description == data.origin else {
                throw Refusal(reason: "it comes from \(data.origin.printable)")
            }
        } else {
            report.notChecked.append("origin")
        }
    }

    private func key(for response: ResponseFile) throws -> COSEKey {
        if let publicKey {
            return try Files.parse(publicKey) { bytes throws(FormatError) in try COSEKey(pem: bytes) }
        }
        guard let registration else {
            throw Explanation.usage("an assertion is checked with --registration FILE or --public-key FILE")
        }
        let known = try Self.response(json: registration)
        guard case .registration(let object) = known.content, let credential = object.authenticatorData.credential
        else {
            throw Explanation.malformed("\(registration) is not a registration")
        }
        guard response.credentialID == nil || credential.id == response.credentialID else {
            throw Refusal(reason: "it is from another credential")
        }
        return credential.publicKey
    }

    private static func certificates(_ file: String) throws(Explanation) -> [[UInt8]] {
        let found = PEM.contents("CERTIFICATE", in: try Files.read(file))
        if found.isEmpty { throw Explanation.malformed("\(file) has no PEM certificate") }
        return found
    }

    /// Why a response does not verify, besides its signature.
    private struct Refusal: Error {
        let reason: String
    }
}

/// The result of a verification.
struct VerificationReport: Report {
    private let response: ResponseFile
    /// The relying party it was verified for.
    var rpID: String?
    /// The origin in the client data.
    var origin: String?
    /// The trust in a credential's attestation.
    var trust: AttestationVerification.Trust?
    /// Whether trust anchors were given.
    var isAnchored = false
    /// What the metadata say about the model.
    var model: ModelReport?
    /// The checks that were not requested.
    var notChecked: [String] = []
    private var reason: String?

    init(_ response: ResponseFile) { self.response = response }

    static let members: [Member<Self>] = [
        Member("verified") { $0.reason == nil }, Member("reason") { $0.reason },
        Member("kind", "registration or assertion") { $0.kind }, Member("rpId") { $0.rpID },
        Member("origin") { $0.origin },
        Member("credentialId") { $0.response.credentialID.map { Base64.encodeURL($0) } },
        Member("format") { $0.attestation?.format.rawValue },
        Member("trust", "none, self, certificates or anchored") { $0.trust?.name(isAnchored: $0.isAnchored) },
        Member("flags", AuthenticatorData.Flags.about) { $0.response.authenticatorData.flags.names },
        Member("counter") { $0.response.authenticatorData.counter },
        Member("publicKey", "PEM") { $0.attestation?.authenticatorData.credential?.publicKey.pem },
        Member("model", "from --metadata") { $0.model },
        Member("notChecked", "what no option requested") { $0.notChecked },
    ]

    private var kind: String { response.isRegistration ? "registration" : "assertion" }

    private var attestation: AttestationObject? {
        if case .registration(let object) = response.content { object } else { nil }
    }

    /// Sets the reason for the failure.
    mutating func refuse(_ reason: String) { self.reason = reason }

    var failure: Explanation? {
        reason.map { Explanation("not-verified", .authentication, "the \(kind) does not verify: \($0)") }
    }

    var lines: [String] {
        guard reason == nil else { return [] }
        var words = "the \(kind) is \(Style.green.around("valid"))"
        if let rpID { words += ", for \(rpID.printable)" }
        let missed = notChecked.isEmpty ? [] : ["not checked: \(notChecked.listed())"]
        let signer = trust.map { "attestation signed by: \($0.description(isAnchored: isAnchored))" }
        return [words] + (signer.map { [$0] } ?? []) + (model.map { Table.details($0.rows) } ?? []) + missed
    }

    /// The credential as `fido2-cred -V` prints it; nothing for an assertion.
    var libFIDO2Lines: [String] {
        reason == nil ? attestation?.authenticatorData.credential?.libFIDO2Lines ?? [] : []
    }
}
