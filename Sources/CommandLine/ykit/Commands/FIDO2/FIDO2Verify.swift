// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Verifies a registration or an assertion as a relying party does, without a key.
struct FIDO2Verify: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "verify",
        "Verify a registration or an assertion as a relying party does. Needs no key.",
        discussion: """
            FILE is what 'ykit --json fido2 register' or 'assert' answered, or WebAuthn's RegistrationResponseJSON or \
            AuthenticationResponseJSON. What an assertion is checked with comes by --registration or --public-key. With \
            --format libfido2 it is what fido2-cred -M or, with --public-key, fido2-assert -G wrote; a credential that \
            holds is printed as fido2-cred -V does. The exit code is 8 when it does not verify.
            """,
        members: [
            "verified", "reason", "kind", "rpId", "origin", "credentialId", "format", "trust", "flags", "counter",
            "publicKeyPem", "notChecked",
        ])

    @Argument("file", help: "A registration or assertion, or - for standard input.", completion: .file) var file: String

    @Option("--rp <id>", help: "The expected relying party; the origin's host by default.") var rp: String?

    @Option("--origin", help: "The expected origin.") var origin: String?

    @Option("--challenge <bytes>", isBase64URL: true, help: "The expected challenge, base64url.") var challenge: String?

    @Flag("--uv", help: "Require user verification.") var uv = false

    @Flag("--no-touch", help: "Do not require user presence.") var noTouch = false

    @Option("--registration <file>", help: "The registration of the credential.") var registration: String?

    @Option("--public-key <file>", help: "The public key of the credential, PEM.") var publicKey: String?

    @Option("--trust <file>", help: "Trusted certificates, PEM; an attestation that leads to none of them is refused.")
    var trust: String?

    @Option("--format", among: [.webauthn, .libfido2], help: "How FILE is written: webauthn or libfido2.")
    var format: ExchangeFormat = .webauthn

    func check() throws {
        if registration != nil, publicKey != nil {
            throw UsageError("--registration and --public-key are two ways, use one of them")
        }
    }

    func answer(in world: World) throws -> Answer {
        let evidence =
            try format == .libfido2 ? Evidence(libfido2: file, hasKey: publicKey != nil) : Evidence(json: file)
        var verdict = Verdict(evidence)
        do {
            try judge(evidence, &verdict, world)
        } catch let problem as VerificationProblem {
            verdict.refuse(Explain.words(problem))
        } catch let explanation as Explanation where explanation.code == "not-verified" {
            verdict.refuse(explanation.message)
        }
        return verdict.answer(isLibFIDO2: format == .libfido2)
    }

    private func judge(_ evidence: Evidence, _ verdict: inout Verdict, _ world: World) throws {
        try checkClientData(evidence, &verdict)
        let rpID = try rp ?? evidence.rpID ?? party(evidence, &verdict)
        verdict.rpID = rpID
        switch evidence.content {
        case .registration(let object):
            var check = AttestationVerification(rpID: rpID)
            check.requiresUserVerification = uv
            check.requiresPresence = !noTouch
            if let trust { check.anchors = TrustAnchors(try Self.certificates(trust)) }
            check.clock = world.environment.clock
            verdict.isAnchored = trust != nil
            verdict.trust = try check.check(object, clientDataHash: evidence.clientDataHash)
        case .assertion(let data, let signature):
            let key = try key(for: evidence)
            var check = AssertionVerification(rpID: rpID, publicKey: key)
            check.requiresUserVerification = uv
            check.requiresPresence = !noTouch
            try check.check(data, signature: signature, clientDataHash: evidence.clientDataHash)
        }
    }

    /// The relying party if none was given: the origin's host, or the parent domain whose hash the key signed.
    private func party(_ evidence: Evidence, _ verdict: inout Verdict) throws -> String {
        verdict.notChecked.append("relying party")
        let host = try Origin(verdict.origin ?? "").host
        let labels = host.split(separator: ".")
        let domains = labels.indices.dropLast().map { labels[$0...].joined(separator: ".") }
        return domains.first { HashAlgorithm.sha256.hash($0.utf8) == evidence.rpIDHash } ?? host
    }

    /// Checks the client data, and notes what was not requested.
    private func checkClientData(_ evidence: Evidence, _ verdict: inout Verdict) throws {
        guard let data = evidence.clientData else { return }
        verdict.origin = data.origin
        let wanted: ClientData.Kind = verdict.isRegistration ? .create : .get
        guard data.type == wanted else {
            throw Self.refusal("the client data are of type \(data.type.rawValue.printable)")
        }
        if let challenge {
            guard try BytesArgument.base64(challenge, "--challenge") == data.challenge else {
                throw Self.refusal("it answers another challenge")
            }
        } else {
            verdict.notChecked.append("challenge")
        }
        if let origin {
            guard try Origin(origin).description == data.origin else {
                throw Self.refusal("it comes from \(data.origin.printable)")
            }
        } else {
            verdict.notChecked.append("origin")
        }
    }

    private func key(for evidence: Evidence) throws -> COSEKey {
        if let publicKey { return try Evidence.publicKey(publicKey) }
        guard let registration else {
            throw Explanation.usage("an assertion is checked with --registration FILE or --public-key FILE")
        }
        let known = try Evidence(json: registration)
        guard case .registration(let object) = known.content, let credential = object.authenticatorData.credential
        else {
            throw Explain.malformed("\(registration) is not a registration")
        }
        guard evidence.credentialID == nil || credential.id == evidence.credentialID else {
            throw Self.refusal("it is by another credential")
        }
        return credential.publicKey
    }

    private static func certificates(_ file: String) throws(Explanation) -> [[UInt8]] {
        let found = PEM.contents("CERTIFICATE", in: try Files.read(file))
        if found.isEmpty { throw Explain.malformed("\(file) has no PEM certificate") }
        return found
    }

    private static func refusal(_ reason: String) -> Explanation {
        Explanation("not-verified", .authentication, reason)
    }
}

/// The result of a verification, for people and for programs.
struct Verdict {
    private let evidence: Evidence
    /// The relying party it was verified for.
    var rpID: String?
    /// The origin in the client data.
    var origin: String?
    /// The trust in a credential's attestation.
    var trust: AttestationVerification.Trust?
    /// Whether trust anchors were given.
    var isAnchored = false
    /// The checks that were not requested.
    var notChecked: [String] = []
    private var reason: String?

    init(_ evidence: Evidence) { self.evidence = evidence }

    /// Whether it is a registration.
    var isRegistration: Bool { if case .registration = evidence.content { true } else { false } }

    private var data: AuthenticatorData {
        switch evidence.content {
        case .registration(let object): object.authenticatorData
        case .assertion(let data, _): data
        }
    }

    /// Sets the reason for the failure.
    mutating func refuse(_ reason: String) { self.reason = reason }

    func answer(isLibFIDO2: Bool) -> Answer {
        let kind = isRegistration ? "registration" : "assertion"
        var answer = Answer(lines(kind, isLibFIDO2), [:])
        answer.members["verified"] = .bool(reason == nil)
        answer.members["reason"] = reason.map(JSONValue.string)
        answer.members["kind"] = .string(kind)
        answer.members["rpId"] = rpID.map(JSONValue.string)
        answer.members["origin"] = origin.map(JSONValue.string)
        answer.members["credentialId"] = evidence.credentialID.map { .string(Base64.encodeURL($0)) }
        if case .registration(let object) = evidence.content {
            answer.members["format"] = .string(object.format.rawValue)
            answer.members["publicKeyPem"] = data.credential?.publicKey.pem.map(JSONValue.string)
        }
        answer.members["trust"] = trust.map { .string($0.name(isAnchored: isAnchored)) }
        answer.members["flags"] = .array(data.flags.names.map(JSONValue.string))
        answer.members["counter"] = .int(Int64(data.counter))
        answer.members["notChecked"] = .array(notChecked.map(JSONValue.string))
        if let reason {
            answer.failure = Explanation("not-verified", .authentication, "the \(kind) does not verify: \(reason)")
        }
        return answer
    }

    private func lines(_ kind: String, _ isLibFIDO2: Bool) -> [String] {
        guard reason == nil else { return [] }
        if isLibFIDO2 {
            guard isRegistration, let credential = data.credential else { return [] }
            return [LibFIDO2Lines.line(credential.id), (credential.publicKey.pem ?? "").trimmed]
        }
        var words = "the \(kind) is \(Style.green.around("right"))"
        if let rpID { words += ", for \(rpID.printable)" }
        let missed = notChecked.isEmpty ? [] : ["not checked: \(notChecked.listed())"]
        return [words] + (trust.map { ["vouched for by \($0.description(isAnchored: isAnchored))"] } ?? []) + missed
    }
}
