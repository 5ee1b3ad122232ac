// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAttestation
import YKCrypto
import YKFIDO
import YKPIV
import YKRelyingParty
import YKTransport
import YKWire

/// Verifies a registration or an assertion as a relying party does, without a key.
struct FIDO2Verify: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Verify a registration or an assertion as a relying party does. Needs no key.",
        discussion: """
            FILE is the output of 'ykit --json fido2 register' or 'assert', or WebAuthn's RegistrationResponseJSON or \
            AuthenticationResponseJSON. An assertion is checked with --registration or --public-key; its counter, \
            backup eligibility and account only with the registration. With --format libfido2, FILE is what fido2-cred -M or, with \
            --public-key, fido2-assert -G wrote; a valid credential is printed as by fido2-cred -V. The exit code is 8 \
            if it does not verify.
            """,
        examples: [
            Example("ykit fido2 verify registration.json --origin https://example.com"),
            Example("ykit fido2 verify assertion.json --registration registration.json"),
        ])

    @Argument("file", help: "A registration or assertion, or - for standard input.", completion: .input) var file:
        String

    @Option("--rp <id>", help: "The expected relying party; the origin's host by default.") var rp: String?

    @Option("--origin", help: "The expected origin, also of an app: android:apk-key-hash:…") var origin: String?

    @Option("--top-origin <origin>", help: "A page that may embed the origin's page; may be repeated.")
    var topOrigin: [String] = []

    @Option("--challenge <bytes>", isBase64URL: true, help: "The expected challenge, base64url.") var challenge: String?

    @Flag("--uv", help: "Require user verification.") var uv = false

    @Flag("--no-touch", help: "Do not require user presence.") var noTouch = false

    @Option("--registration <file>", help: "The registration of the credential.") var registration: String?

    @Option("--public-key <file>", help: "The public key of the credential, PEM.") var publicKey: String?

    @Option("--trust <file>", help: "Trusted certificates, PEM; an attestation that chains to none of them is refused.")
    var trust: String?

    @Flag("--allow-sha1", help: "Accept RS1, a signature with SHA-1, as TPMs of Windows make.") var allowSHA1 = false

    @OptionGroup var metadata: MetadataOptions

    @Option("--format", among: [.webauthn, .libfido2], help: "Format of FILE: webauthn or libfido2.")
    var format: ExchangeFormat = .webauthn

    func check() throws {
        if metadata.metadata != nil, trust != nil {
            throw UsageError("--trust and --metadata cannot be combined")
        }
        if registration != nil, publicKey != nil {
            throw UsageError("--registration and --public-key cannot be combined")
        }
    }

    func run(in run: Run) throws -> Outcome<VerificationReport> {
        let responses = try format == .libfido2 ? libFIDO2Responses() : [Self.response(json: file)]
        guard let first = responses.first else { throw Explanation.malformed("\(file.printable) is empty") }
        var report = VerificationReport(first, count: responses.count)
        let list = try metadata.list(in: run)
        if list != nil, !first.isRegistration {
            throw Explanation.usage("--metadata is for registrations: an assertion does not name the model")
        }
        let known = try first.isRegistration ? nil : credential(for: first)
        for (index, response) in responses.enumerated() {
            do {
                try verify(response, known, list, &report, run)
            } catch let error as CeremonyError {
                report.refuse((responses.count > 1 ? "number \(index + 1): " : "") + error.verificationWords)
                if case .attestation(.weakAlgorithm) = error { report.hint = "accept it with --allow-sha1" }
                break
            }
        }
        var outcome = Outcome(report, format == .libfido2 ? report.libFIDO2Lines : report.lines)
        outcome.answer.failure = report.failure
        return outcome
    }

    private func libFIDO2Responses() throws(Explanation) -> [ResponseFile] {
        try Files.parse(file) { bytes throws(FormatError) in
            if publicKey == nil {
                [try ResponseFile(libFIDO2Registration: bytes)]
            } else {
                try ResponseFile.assertions(libFIDO2: bytes)
            }
        }
    }

    private static func response(json file: String) throws(Explanation) -> ResponseFile {
        try Files.parse(file, hint: "it must be a registration or an assertion, as --json prints it") {
            bytes throws(FormatError) in try ResponseFile(json: bytes)
        }
    }

    private func verify(
        _ response: ResponseFile, _ known: ResponseVerification.Credential?, _ list: MetadataBLOB?,
        _ report: inout VerificationReport, _ run: Run
    ) throws {
        var client = ClientDataRequirements(response.isRegistration ? .create : .get)
        client.challenge = try challenge.map { try BytesArgument.base64($0, "--challenge") }
        client.origins = try origin.map { [try Origin.comparable($0)] }
        client.topOrigins = Set(try topOrigin.map { text throws(WebAuthnError) in try Origin.comparable(text) })
        report.origin = response.clientData?.origin
        if let data = response.clientData { try client.check(data) }
        var check = ResponseVerification(rpID: "", client: client)
        report.skip(check.skippedSteps(of: response.clientData))
        let rpID = try rp ?? response.rpID ?? party(response, &report)
        (report.rpID, check.rpID) = (rpID, rpID)
        check.requiresUserVerification = uv
        check.requiresPresence = !noTouch
        check.allowsSHA1 = allowSHA1
        check.clock = run.environment.clock
        switch response.content {
        case .registration(let object):
            try verify(object, response.clientDataHash, check, list, &report, run)
        case .assertion(let data, let signature):
            guard let known else { return }
            report.skip(try check.verify(response, data, signature: signature, by: known))
        }
    }

    /// Verifies a registration, and lets the judge of 'attest verify' follow its attestation to --trust.
    private func verify(
        _ object: AttestationObject, _ hash: [UInt8], _ check: ResponseVerification, _ list: MetadataBLOB?,
        _ report: inout VerificationReport, _ run: Run
    ) throws {
        var (object, check) = (object, check)
        var judge = AttestationJudge(at: run.now)
        judge.allowsSHA1 = allowSHA1
        let aaguid = object.authenticatorData.credential?.aaguid ?? []
        if let list {
            object = judge.completed(object)
            check.metadata = MetadataPolicy(list)
            report.model = ModelReport(aaguid, in: list, at: run.now)
        }
        report.isAnchored = list != nil
        let (found, entry) = try check.verify(object, clientDataHash: hash)
        report.trust = found
        report.model = list.map { ModelReport(aaguid, in: $0, entry: entry, at: run.now) }
        guard let trust else { return }
        judge.roots = try KeyFile.certificates(trust)
        let finding = judge.verdict(on: object, clientDataHash: hash).findings.first
        report.isAnchored = finding == nil
        if let finding { report.refuse(Explanation(finding).message) }
    }

    /// The relying party if none was given: the origin's host, or the parent domain whose hash the key signed.
    private func party(_ response: ResponseFile, _ report: inout VerificationReport) throws -> String {
        let name = report.origin ?? ""
        guard !Origin.isOfApplication(name) else {
            throw Explanation.usage("the origin \(name.printable) has no host: give the relying party with --rp")
        }
        report.skip([.relyingParty])
        let host = try Origin(name).host
        let labels = host.split(separator: ".")
        let domains = labels.indices.dropLast().map { labels[$0...].joined(separator: ".") }
        return domains.first { HashAlgorithm.sha256.hash($0.utf8) == response.authenticatorData.rpIDHash } ?? host
    }

    private func credential(for response: ResponseFile) throws -> ResponseVerification.Credential {
        if let publicKey {
            let key = try Files.parse(publicKey) { bytes throws(FormatError) in try COSEKey(pem: bytes) }
            return .keys(key.withAlgorithms(allowingSHA1: allowSHA1))
        }
        guard let registration else {
            throw Explanation.usage("an assertion is checked with --registration FILE or --public-key FILE")
        }
        let known = try Self.response(json: registration)
        guard case .registration(let object) = known.content, let credential = object.authenticatorData.credential
        else {
            throw Explanation.malformed("\(registration) is not a registration")
        }
        return .record(CredentialRecord(credential, object.authenticatorData, user: known.user ?? []))
    }
}

extension CeremonyError {
    private static func words(_ problem: VerificationProblem) -> String {
        Explanation(AttestationFinding.fido(problem)).message
    }

    /// The reason for the failure of a verification, after "the registration does not verify: ".
    fileprivate var verificationWords: String {
        switch self {
        case .type(let type): "the client data are of type \(type.rawValue.printable)"
        case .challenge: "it answers a different challenge"
        case .origin(let origin): "it comes from \(origin.printable)"
        case .crossOrigin: "its page was embedded in a page of another origin"
        case .topOrigin(let origin): "its page was embedded in a page of \(origin.printable)"
        case .credentialNotAllowed: "it is from another credential"
        case .attestation(let problem), .signature(let problem): Self.words(problem)
        case .otherRelyingParty: Self.words(.otherRelyingParty)
        case .noPresence: Self.words(.noPresence)
        case .noUserVerification: Self.words(.noUserVerification)
        case .backupEligibilityChanged: "the registration says otherwise whether the credential can be backed up"
        case .counter(let stored, let received):
            "the signature counter went from \(stored) to \(received): the key may have been cloned"
        case .model(.unknown): "its model is not in the metadata list"
        case .model(let refusal): "its model is refused: \(refusal.description.printable)"
        default: "\(self)".printable
        }
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
    /// The steps that were left out.
    private var skipped: [ResponseVerification.Step] = []
    private var reason: String?
    /// What to do about the reason.
    var hint: String?
    /// The number of responses.
    private let count: Int

    init(_ response: ResponseFile, count: Int) { (self.response, self.count) = (response, count) }

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
        Member("notChecked", "the steps for which nothing to compare with was given") { $0.notChecked },
    ]

    private var kind: String { response.isRegistration ? "registration" : "assertion" }

    private var attestation: AttestationObject? {
        if case .registration(let object) = response.content { object } else { nil }
    }

    private var notChecked: [String] { skipped.map(\.rawValue) }

    /// Adds steps that were left out.
    mutating func skip(_ steps: [ResponseVerification.Step]) {
        for step in steps where !skipped.contains(step) { skipped.append(step) }
    }

    /// Sets the reason for the failure.
    mutating func refuse(_ reason: String) { self.reason = reason }

    var failure: Explanation? {
        reason.map { Explanation("not-verified", .authentication, "the \(kind) does not verify: \($0)", hint: hint) }
    }

    var lines: [String] {
        guard reason == nil else { return [] }
        let subject = count > 1 ? "all \(count) \(kind)s are" : "the \(kind) is"
        var words = "\(subject) \(Style.green.around("valid"))"
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
