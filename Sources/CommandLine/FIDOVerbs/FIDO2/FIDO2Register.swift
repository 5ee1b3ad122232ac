// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKFIDO
import YKTransport
import YKWire

/// Creates a credential.
struct FIDO2Register: Verb {
    static let about = About(
        "Create a credential. Requires a touch.",
        discussion: """
            For yourself: ykit fido2 register --rp example.com --user alice. For a server: --origin and --options with \
            its JSON (WebAuthn PublicKeyCredentialCreationOptionsJSON, bare or under "publicKey"); send the member \
            "credential" of the JSON answer back to it. With --format libfido2, --options is the input of 'fido2-cred \
            -M', and the answer its output. --format pam-u2f is for logging in to this machine: the answer is a line \
            of pam_u2f's mapping file, and --append FILE adds the key to the user's line; by default --origin is \
            pam://HOSTNAME, and --user the user who runs ykit.
            """,
        examples: [
            Example("ykit fido2 register --rp example.com --user alice@example.com --resident", "Create a passkey."),
            Example(
                "ykit fido2 register --options creation.json --origin https://example.com",
                "Use the options of a web server."),
        ])

    @OptionGroup var ask: RegistrationOptions
    @OptionGroup var ceremony: CeremonyOptions<RegistrationFormats>

    @Option("--append <file>", help: "Add the key to this mapping file, with --format pam-u2f.") var append: String?

    @Flag(["--force", "-f"], help: "Replace a credential that the key stores for the same account, without asking.")
    var force = false

    @OptionGroup var pin: PINOptions

    func check(with global: GlobalOptions) throws {
        guard ceremony.format == .pamU2F else {
            if append != nil { throw UsageError("--append requires --format pam-u2f") }
            return try ceremony.check([("--rp", ask.rp), ("--user", ask.user)], pin, global)
        }
        guard ask.rp == nil, ceremony.options == nil else {
            throw UsageError("--format pam-u2f takes --origin in place of --rp and --options")
        }
    }

    func run(in run: Run) async throws -> Outcome<RegistrationReport> {
        switch ceremony.format {
        case .pamU2F: try await pamU2FOutcome(in: run)
        case .libfido2: try await libFIDO2Outcome(in: run)
        case .webauthn: try await webAuthnOutcome(in: run)
        }
    }

    private func webAuthnOutcome(in run: Run) async throws -> Outcome<RegistrationReport> {
        let wanted =
            try ceremony.options.map { try PublicKeyCredentialCreationOptions(parsing: try Files.read($0)) }
            ?? ask.read(run)
        let site = try ceremony.site(ask.rp)
        let rpID = try run.relyingPartyID(wanted.rpID, at: site)
        let what = "create a credential for '\((wanted.user.name ?? "").printable)' at \(rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if ask.extensions.payment { try await service.requirePayments() }
        let isRemembered = wanted.selection.residentKey == .required
        if wanted.selection.residentKey != .discouraged {
            let excluded = wanted.excludeCredentials.map { CredentialDescriptor(id: $0.id) }
            try await checkReplacing(rpID, wanted.user, excluded, service, run)
        }
        run.announce("\(what)\(isRemembered ? ", stored on the key" : "")")
        var client = WebAuthnClient(service: service, origin: site)
        client.usesU2F = ceremony.usesU2F
        let made = try await client.create(wanted)
        let report = RegistrationReport(made: made, rpID: rpID, user: wanted.user)
        var outcome = Outcome(report, report.details)
        outcome.answer.isMadeOnce = true
        if wanted.selection.residentKey == .preferred, made.isResident == false {
            outcome.answer.warnings.append(
                Warning("not-stored", "the credential was not stored: the key does not support it, or is full"))
        }
        return outcome
    }

    /// Asks before a credential is replaced. An account with a new random identifier has none.
    func checkReplacing(
        _ rpID: String, _ user: FIDOUser, _ excluded: [CredentialDescriptor], _ service: FIDOService, _ run: Run
    ) async throws {
        guard ask.userId != nil || ceremony.options != nil, !ceremony.usesU2F else { return }
        try await CredentialReplacing(run: run, service: service, force: force).check(
            rpID, userID: user.id, whose: "'\((user.name ?? "").printable)' at \(rpID.printable)", excluded: excluded)
    }
}

/// The options of a registration.
struct RegistrationOptions: ParsableArguments {
    @Option("--rp <id>", help: "The relying party, a domain name such as example.com.") var rp: String?

    @Option("--rp-name", help: "The relying party's display name.") var rpName: String?

    @Option("--user", help: "The account's name.") var user: String?

    @Option("--display-name", help: "The account's display name.") var displayName: String?

    @Option(
        "--user-id <bytes>",
        isBase64URL: true,
        help: "The account's identifier, hexadecimal or base64url; random by default.")
    var userId: String?

    @Option("--challenge <bytes>", isBase64URL: true, help: "The challenge, base64url; random by default.")
    var challenge: String?

    @Flag("--resident", help: "Store the credential on the key: a passkey.") var resident = false

    @Option(
        "--uv",
        help: "User verification, by PIN or fingerprint: required, preferred (the default) or discouraged.")
    var uv: VerificationChoice?

    @Option("--algorithm <name>", help: "es256, eddsa, rs256 …, in order of preference; may be repeated.")
    var algorithm: [String] = []

    @Option(
        "--exclude <credential>",
        isBase64URL: true,
        help: "Fail if the key has this credential, base64url; may be repeated.")
    var exclude: [String] = []

    @Option("--attestation", help: "Attestation conveyance: none, indirect, direct or enterprise.")
    var attestation: AttestationChoice?

    @OptionGroup var extensions: RegistrationExtensionOptions

    func check() throws {
        for name in algorithm where COSEAlgorithm(name: name) == nil {
            throw UsageError("unknown algorithm '\(name.printable)'; expected es256, eddsa or rs256")
        }
    }

    /// The algorithms in order of preference.
    var algorithms: [COSEAlgorithm] {
        algorithm.isEmpty ? [.es256, .edDSA, .rs256] : algorithm.compactMap(COSEAlgorithm.init(name:))
    }

    /// Returns the options as a relying party would send them.
    func read(_ run: Run) throws -> PublicKeyCredentialCreationOptions {
        guard let rp, let user else { throw Explanation.usage("missing --rp and --user, or --options FILE") }
        let random = run.environment.random
        let account = FIDOUser(
            id: try userId.map { try BytesArgument.hexOrBase64($0, "--user-id") } ?? random.draw(16, secret: false),
            name: user, displayName: displayName ?? user)
        guard account.id.count <= 64 else { throw Explanation.usage("--user-id takes at most 64 bytes") }
        let challenge =
            try challenge.map { try BytesArgument.base64($0, "--challenge") }
            ?? random.draw(32, secret: false)
        var options = PublicKeyCredentialCreationOptions(
            rpID: rp, rpName: rpName ?? rp, user: account, challenge: challenge)
        options.parameters = algorithms.map { CredentialParameters($0) }
        options.excludeCredentials = try exclude.map {
            PublicKeyCredentialDescriptor(id: try BytesArgument.base64($0, "--exclude"))
        }
        options.selection = AuthenticatorSelection(
            residentKey: resident ? .required : .discouraged, userVerification: uv?.requirement ?? .preferred)
        options.attestation = attestation?.conveyance ?? .direct
        options.extensions = try extensions.json
        return options
    }
}

/// The attestation to request from the key.
enum AttestationChoice: String, CaseIterable, ExpressibleByArgument {
    case none, indirect, direct, enterprise

    var conveyance: AttestationConveyance? { AttestationConveyance(rawValue: rawValue) }
}

/// The format of options and answers.
enum ExchangeFormat: String, CaseIterable, ExpressibleByArgument {
    case webauthn, libfido2
    case pamU2F = "pam-u2f"
}

/// The formats of a ceremony.
protocol CeremonyFormats: SendableMetatype {
    static var values: [ExchangeFormat] { get }
    static var help: String { get }
}

enum RegistrationFormats: CeremonyFormats {
    static let values = ExchangeFormat.allCases
    static let help = "Format of --options and of the answer: webauthn or libfido2; for the answer also pam-u2f."
}

enum AssertionFormats: CeremonyFormats {
    static let values: [ExchangeFormat] = [.webauthn, .libfido2]
    static let help = "Format of --options and of the answer: webauthn or libfido2."
}

/// The extensions of a registration.
struct RegistrationExtensionOptions: ParsableArguments {
    static let title = "Extension Options"

    @Flag("--hmac-secret", help: "Enable secrets derived from salts (hmac-secret).") var hmacSecret = false

    @Option(
        "--cred-protect",
        help: "When it can be used without user verification: optional, optional-with-list or required.")
    var credProtect: ProtectionChoice?

    @Flag("--large-blob", help: "Enable a large blob for the credential.") var largeBlob = false

    @Option(
        "--cred-blob <bytes>",
        isBase64URL: true,
        help: "Store these bytes with the credential, hexadecimal or base64url.")
    var credBlob: String?

    @Flag("--min-pin-length", help: "Request the minimum PIN length.") var minPinLength = false

    @Flag("--payment", help: "Let other sites use the credential for payments (thirdPartyPayment).") var payment = false

    /// When a credential may be used without user verification.
    enum ProtectionChoice: String, CaseIterable, ExpressibleByArgument {
        case optional, required
        case optionalWithList = "optional-with-list"

        var level: CredentialProtection {
            switch self {
            case .optional: .optional
            case .optionalWithList: .optionalWithList
            case .required: .required
            }
        }
    }

    /// The extension inputs in WebAuthn JSON.
    var json: JSONValue.Object {
        get throws(Explanation) {
            var object = JSONValue.Object()
            object["credProps"] = true
            if hmacSecret { object["hmacCreateSecret"] = true }
            if let credProtect {
                object["credentialProtectionPolicy"] = .string(credProtect.level.description)
                object["enforceCredentialProtectionPolicy"] = true
            }
            if largeBlob { object["largeBlob"] = ["support": "required"] }
            if let credBlob {
                object["credBlob"] = .string(Base64.encodeURL(try BytesArgument.hexOrBase64(credBlob, "--cred-blob")))
            }
            if minPinLength { object["minPinLength"] = true }
            if payment { object["thirdPartyPayment"] = true }
            return object
        }
    }

    /// The extension inputs for the key.
    var inputs: RegistrationExtensions {
        get throws(Explanation) {
            var inputs = RegistrationExtensions()
            inputs.createsHMACSecret = hmacSecret
            inputs.protection = credProtect?.level
            inputs.enforcesProtection = credProtect != nil
            inputs.createsLargeBlobKey = largeBlob
            inputs.blob = try credBlob.map { text throws(Explanation) in
                try BytesArgument.hexOrBase64(text, "--cred-blob")
            }
            inputs.asksMinPINLength = minPinLength
            inputs.allowsThirdPartyPayment = payment
            return inputs
        }
    }
}

extension FIDOService {
    /// Refuses a key that would ignore thirdPartyPayment, which the user asked for.
    func requirePayments() throws(FIDOError) {
        guard hasCTAP2, try info().extensions.contains("thirdPartyPayment") else {
            throw .unsupported("thirdPartyPayment")
        }
    }
}

/// A registration, or the line of a mapping file made from it.
struct RegistrationReport: Report {
    private let made: RegistrationResponse?
    private let rpID: String?
    private let user: FIDOUser?
    private let line: String?

    init(made: RegistrationResponse, rpID: String, user: FIDOUser) {
        (self.made, self.rpID, self.user, line) = (made, rpID, user, nil)
    }

    init(line: String) { (made, rpID, user, self.line) = (nil, nil, nil, line) }

    static let members: [Member<Self>] = [
        Member("credential", "WebAuthn's RegistrationResponseJSON", title: "credential", line: { $0.credentialID }) {
            $0.made?.json
        },
        Member(
            "rpId", title: "for",
            line: { "'\(($0.user?.name ?? "").printable)' at \(($0.rpID ?? "").printable)" }
        ) { $0.rpID },
        Member("user") { $0.user }, Member("credentialId") { $0.credentialID },
        Member("algorithm", title: "algorithm", absent: "unknown") { $0.made?.publicKey?.algorithm?.description },
        Member("publicKey", "PEM") { $0.made?.publicKey?.pem },
        Member(
            "format", title: "attestation",
            line: {
                $0.made.map { made in
                    made.attestationObject.format.rawValue.printable
                        + (made.isEnterpriseAttestation == true ? ", which names this key" : "")
                }
            }
        ) { $0.made?.attestationObject.format.rawValue },
        Member("aaguid") { $0.data?.credential.map { Hex.uuid($0.aaguid) } },
        Member(
            "flags", AuthenticatorData.Flags.about, title: "user",
            line: { $0.data?.flags.userState }
        ) { $0.data?.flags.names },
        Member("counter") { $0.data?.counter },
        Member("line", "of pam_u2f, with --format pam-u2f") { $0.line },
        Member(
            "enterpriseAttestation", "whether the attestation names the key",
            rows: { $0.made?.clientExtensionResults.rows ?? [] }
        ) { $0.made?.isEnterpriseAttestation },
    ]

    private var data: AuthenticatorData? { made?.attestationObject.authenticatorData }

    private var credentialID: String? { made.map { Base64.encodeURL($0.id) } }
}
