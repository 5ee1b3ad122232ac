// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Commands for keys that sign files.
struct FIDO2SignKey: ParsableCommand {
    static let about = About(
        "Sign files with a key made for this purpose (previewSign). Experimental.",
        discussion: """
            'create' creates a signing key, whose file contains no secrets. From that file alone, 'derive' derives any \
            number of public keys, which nobody can link to each other; 'sign' signs for one of them. A signature is \
            plain ECDSA with P-256 and SHA-256, which any program verifies: openssl dgst -sha256 -verify public.pem \
            -signature FILE.sig FILE. YubiKeys support this from firmware 5.8 on, as a preview: the algorithm numbers \
            will change, and files from this version may then become unusable.
            """,
        subcommands: [
            "create": FIDO2SignKeyCreate.self, "derive": FIDO2SignKeyDerive.self, "sign": FIDO2SignKeySign.self,
        ],
        examples: [Example("ykit fido2 sign-key create signing.json --rp example.com")])
}

extension PreviewSign.KeyFile {
    /// Reads the file that 'create' wrote.
    fileprivate static func read(_ file: String) throws(Explanation) -> PreviewSign.KeyFile {
        try Files.parse(file, hint: "expected a file from 'ykit fido2 sign-key create'") { bytes throws(FormatError) in
            try PreviewSign.KeyFile(json: bytes)
        }
    }
}

extension PreviewSign.DerivedKey {
    /// Reads the file that 'derive' wrote.
    fileprivate static func read(_ file: String) throws(Explanation) -> PreviewSign.DerivedKey {
        try Files.parse(file, hint: "expected a file from 'ykit fido2 sign-key derive'") { bytes throws(FormatError) in
            try PreviewSign.DerivedKey(json: bytes)
        }
    }
}

extension FileOutput {
    /// Writes a JSON object, completely or not at all.
    fileprivate func put(_ json: JSONValue) throws(Explanation) {
        try prepare(Array((json.text + "\n").utf8))
        try commit()
    }
}

/// Creates a signing key.
struct FIDO2SignKeyCreate: Verb {
    static let about = About(
        "Create a signing key. Requires a touch.",
        discussion: """
            The key creates a credential and, with it, the signing key; it stores neither. Keep FILE: without it nothing can \
            be signed again. With --uv each signature requires the PIN or a fingerprint, otherwise only a touch.
            """,
        examples: [
            Example("ykit fido2 sign-key create signing.json --rp example.com", "Create a key for your own domain.")
        ])

    @Argument("file", help: "The new file.", completion: .file) var file: String

    @Option("--rp <id>", help: "The relying party, a domain name such as example.com.") var rp: String

    @Flag("--uv", help: "Require user verification.") var uv = false

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// A signing key, and the file it is in.
    struct Created: Report {
        let key: PreviewSign.KeyFile
        let trust: AttestationVerification.Trust
        let file: String
        static let members: [Member<Self>] = [
            Member("file", title: "file") { $0.file }, Member("rpId", title: "for") { $0.key.rpID },
            Member("credentialId") { Base64.encodeURL($0.key.registration.id) },
            Member("keyHandle", "of the signing key") { Base64.encodeURL($0.key.key.keyHandle) },
            Member("algorithm", title: "algorithm") { $0.key.key.algorithm.description },
            Member("seed", "COSE key from which public keys are derived") {
                Base64.encodeURL($0.key.key.publicKey.encoded)
            },
            Member(
                "policy", "what each signature requires: nothing, touch or verification", title: "requires",
                absent: "unknown"
            ) { $0.policy },
            Member(
                "trust", "none, self or certificates", title: "attestation",
                line: { $0.trust.description(isAnchored: false) }
            ) { $0.trust.name(isAnchored: false) },
        ]

        private var policy: String? {
            switch key.key.policy {
            case .unattended: "nothing"
            case .presence: "touch"
            case .verification: "verification"
            case nil: nil
            }
        }
    }

    func run(in run: Run) async throws -> Outcome<Created> {
        let output = try FileOutput(file: file, isSecret: false, force: replacing.force)
        let site: Origin
        do { site = try Origin("https://\(rp)") } catch {
            throw Explanation.usage("'\(rp.printable)' is not a domain name such as example.com")
        }
        let rpID = try site.relyingPartyID(rp)
        let what = "create a signing key for \(rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        guard await service.hasCTAP2, try await service.info().extensions.contains("previewSign") else {
            throw FIDOError.unsupported("previewSign")
        }
        run.announce(to: what)
        let made = try await WebAuthnClient(service: service, origin: site).create(try options(rpID, run))
        let key = try PreviewSign.KeyFile(made, rpID: rpID)
        let trust = try AttestationVerification(rpID: rpID).check(
            key.key, clientDataHash: HashAlgorithm.sha256.hash(made.clientDataJSON ?? []))
        try output.put(key.json)
        let report = Created(key: key, trust: trust, file: file)
        return Outcome(report, report.details)
    }

    private func options(_ rpID: String, _ run: Run) throws -> PublicKeyCredentialCreationOptions {
        let random = run.environment.random
        var options = PublicKeyCredentialCreationOptions(
            rpID: rpID, rpName: rpID, user: FIDOUser(id: try random.draw(16, secret: false), name: "signing key"),
            challenge: try random.draw(32, secret: false))
        options.parameters = [CredentialParameters(.es256)]
        options.selection = AuthenticatorSelection(
            residentKey: .discouraged, userVerification: uv ? .required : .discouraged)
        options.attestation = .direct
        options.extensions["previewSign"] = [
            "generateKey": ["algorithms": [.int(COSEAlgorithm.esp256SplitARKG.rawValue)]]
        ]
        return options
    }
}

/// Derives a public key of a signing key.
struct FIDO2SignKeyDerive: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Derive a new public key from a signing key. Needs no security key.",
        discussion: """
            Prints the public key, and writes it to FILE with what 'sign' needs to sign for it. Each call derives a \
            different one, and only someone who has FILE can tell that it belongs to the signing key.
            """,
        examples: [
            Example(
                "ykit fido2 sign-key derive contracts.json public.json",
                "Derive a public key, without the security key.")
        ])
    static let answer = Shape(
        [Item<String>("file")],
        [
            Item<PreviewSign.DerivedKey>("publicKey", "PEM") { $0.publicKey.pem },
            Item("additionalArgs", "COSE_Sign_Args, for WebAuthn") { Base64.encodeURL($0.arguments.encoded) },
        ])

    @Argument("signing-key", help: "The file of the signing key.", completion: .file) var signingKey: String

    @Argument("file", help: "The new file.", completion: .file) var file: String

    @Option("--context <text>", help: "A text of at most 64 bytes that separates the uses of a signing key.")
    var context = ""

    @OptionGroup var replacing: OutputOptions

    func check() throws {
        guard context.utf8.count <= ARKGP256.contextLimit else {
            throw UsageError("--context takes at most \(ARKGP256.contextLimit) bytes, got \(context.utf8.count)")
        }
    }

    func run(in run: Run) throws -> Outcome<(String, PreviewSign.DerivedKey)> {
        let key = try PreviewSign.KeyFile.read(signingKey).key
        let output = try FileOutput(file: file, isSecret: false, force: replacing.force)
        let seed = try PreviewSign.Seed(key.publicKey)
        let input = Secret(try run.environment.random.draw(ARKGP256.inputSize, secret: true))
        let made = try seed.derive(input, context: Array(context.utf8))
        try output.put(made.json)
        return Outcome((file, made), (made.publicKey.pem ?? "").split(separator: "\n").map(String.init))
    }
}

/// Signs a file with a signing key.
struct FIDO2SignKeySign: Verb {
    static let about = About(
        "Sign a file for a derived public key. Requires a touch.",
        discussion: "The key signs the file's SHA-256. The signature is verified before it is written, as DER.",
        examples: [
            Example(
                "ykit fido2 sign-key sign contracts.json derived.json letter.txt -o letter.sig",
                "Sign a file for a derived public key.")
        ])

    @Argument("signing-key", help: "The file of the signing key.", completion: .file) var signingKey: String

    @Argument("derived-key", help: "The file of the derived key.", completion: .file) var derivedKey: String

    @Argument("message", help: "The file to sign, - for standard input.", completion: .input) var message: String

    @Option(["--output <file>", "-o"], help: "Where to write the signature.") var output = "-"

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    /// A signature.
    struct Signed: Report {
        let key: PreviewSign.KeyFile
        let derived: PreviewSign.DerivedKey
        let signature: [UInt8]
        let output: String
        static let members: [Member<Self>] = [
            Member("signature", "DER, in base64url") { Base64.encodeURL($0.signature) },
            Member("publicKey", "PEM") { $0.derived.publicKey.pem }, Member("rpId") { $0.key.rpID },
            Member("credentialId") { Base64.encodeURL($0.key.registration.id) }, Member("output") { $0.output },
        ]
    }

    func run(in run: Run) async throws -> Outcome<Signed> {
        let target = try FileOutput(output, isText: false, force: replacing.force, run)
        let (key, derived) = (try PreviewSign.KeyFile.read(signingKey), try PreviewSign.DerivedKey.read(derivedKey))
        let content = try Files.read(message)
        let credential = key.registration.id
        var request = AssertionRequest(
            rpID: key.rpID, clientDataHash: try run.environment.random.draw(32, secret: false),
            allowList: [CredentialDescriptor(id: credential)])
        request.userVerification = key.key.policy == .verification ? .required : .discouraged
        request.extensions.signing[credential] = try PreviewSign.Input(
            keyHandle: key.key.keyHandle, toBeSigned: HashAlgorithm.sha256.hash(content),
            arguments: derived.arguments.encoded)
        let what = "sign a file for \(key.rpID.printable)"
        let service = try await run.openTouchedFIDO(pin, for: what)
        guard await service.hasCTAP2, try await service.info().extensions.contains("previewSign") else {
            throw FIDOError.unsupported("previewSign")
        }
        run.announce(to: what)
        guard let signature = try await sign(request, service) else {
            throw Explanation(
                "no-signature", .failed, "the key returned no signature", hint: "ykit fido2 info shows its firmware")
        }
        try derived.publicKey.verify(signature, over: content)
        let report = Signed(key: key, derived: derived, signature: signature, output: output)
        return try target.put(signature, isText: false, of: report, "signature written to \(output.printable)")
    }

    private func sign(_ request: AssertionRequest, _ service: FIDOService) async throws -> [UInt8]? {
        do throws(FIDOError) { return try await service.assert(request).first?.extensions.signature } catch {
            switch error {
            case .ctap(.status(.invalidCredential, _)):
                throw Explanation(
                    "wrong-derived-key", .notFound,
                    "\(derivedKey.fileName.printable) was not derived from this signing key",
                    hint: "derive one with: ykit fido2 sign-key derive")
            case .noCredentials:
                throw Explanation(
                    "no-such-credential", .notFound, "another key created this signing key", hint: "try the other key")
            default: throw error
            }
        }
    }
}
