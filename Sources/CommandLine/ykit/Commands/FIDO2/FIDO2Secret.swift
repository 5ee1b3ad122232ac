// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Derives a secret for another program from a credential.
struct FIDO2Secret: Verb {
    static let about = About(
        "secret", "Derive a secret that only this key can derive (hmac-secret).",
        discussion: """
            A credential and a salt always give the same secret of 32 bytes, and another one without user verification. \
            --format systemd makes a credential for a LUKS2 volume, the passphrase for a key slot, and the \
            token that systemd-cryptsetup reads. --token makes the passphrase of such a token again.
            """, members: ["rpId", "credentialId", "salt", "verified", "output", "token", "secret"])

    /// The output format of the secret.
    enum Form: String, CaseIterable, ExpressibleByArgument {
        case raw, hex, base64, systemd
    }

    @Option("--rp", help: "The relying party of the credential; io.systemd.cryptsetup for --format systemd.")
    var rp: String?

    @Option(
        "--credential <bytes>",
        isBase64URL: true,
        help: "The credential, base64url. For --format systemd a new one without it.")
    var credential: String?

    @Option("--salt <bytes>", isBase64URL: true, help: "The salt of 32 bytes, hexadecimal or base64url.")
    var salt: String?

    @Option(
        "--uv", among: VerificationChoice.ofSecrets,
        help: "User verification, by PIN or fingerprint: required or discouraged. Each gives a different secret.")
    var uv: VerificationChoice = .required

    @Option("--format", help: "How the secret is written: raw, hex, base64, or systemd with a token.")
    var format: Form = .base64

    @Option(["--output <file>", "-o"], help: "Where the secret goes.") var output = "-"

    @Option("--keyslot <n>", help: "The key slot of the LUKS2 volume that gets the passphrase.") var keyslot: Int?

    @Option("--token-output <file>", help: "Where the token goes, with --format systemd.") var tokenOutput: String?

    @Option(
        "--token <file>",
        help: "Make the passphrase of this token again; a file of 'cryptsetup token export', or - for standard input.")
    var token: String?

    @OptionGroup var replacing: OutputOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        if token != nil {
            guard credential == nil, salt == nil, rp == nil, format != .systemd else {
                throw UsageError("--token tells relying party, credential and salt")
            }
            try pin.checkInput(token, "token")
        } else if format == .systemd {
            guard let keyslot, (0...31).contains(keyslot), tokenOutput != nil else {
                throw UsageError("--format systemd needs --keyslot 0 to 31 and --token-output FILE")
            }
        } else if rp == nil || credential == nil || salt == nil {
            throw UsageError("--rp, --credential and --salt say which secret, or --token FILE")
        }
        if format != .systemd, keyslot != nil || tokenOutput != nil {
            throw UsageError("--keyslot and --token-output belong to --format systemd")
        }
    }

    func answer(in world: World) async throws -> Answer {
        let isText = format != .raw
        let place = try FileOutput(output, isText: isText, isSecret: true, force: replacing.force, world)
        let tokens = try token.map { try SystemdToken.all(parsing: try Files.read($0)) }
        let file = try tokenOutput.map { path throws(Explanation) in
            try FileOutput(file: path, force: replacing.force)
        }
        let given = try given(world)
        let what = tokens == nil ? "make a secret for \(given.rpID.printable)" : "make the passphrase of a LUKS2 volume"
        let service = try await world.openTouchedFIDO(pin, for: what)
        try await check(service)
        world.announce("to \(what)")
        let used: SystemdToken
        let secret: SharedSecret
        if let tokens {
            (used, secret) = try await find(tokens, service)
        } else {
            used = try await enrolled(given, service, world)
            secret = try await used.secret(of: service)
        }
        var answer = Answer("the secret is in \(output.printable)", [:])
        try file?.prepare(Array((used.json(keyslot: keyslot).text + "\n").utf8))
        try file?.settle()
        let bytes = written(secret, world)
        try place.put(bytes, isText: isText, &answer)
        if output == "-" {
            let text = format == .raw ? Base64.encode(bytes) : String(decoding: bytes, as: UTF8.self).trimmed
            answer.members["secret"] = .string(text)
        }
        answer.members["rpId"] = .string(used.rpID)
        answer.members["credentialId"] = .string(Base64.encodeURL(used.credential))
        answer.members["salt"] = .string(Base64.encodeURL(used.salt))
        answer.members["verified"] = .bool(used.isVerified)
        answer.members["output"] = .string(output)
        answer.members["token"] = tokenOutput.map(JSONValue.string) ?? .null
        return answer
    }

    /// Returns the token described by the options; its credential is empty if a new one is to be created.
    private func given(_ world: World) throws -> SystemdToken {
        let salt =
            try salt.map { text throws(Explanation) in try BytesArgument.hexOrBase64(text, "--salt", count: 32) }
            ?? world.environment.random.draw(32, secret: false)
        return SystemdToken(
            rpID: rp ?? SystemdToken.usualRPID,
            credential: try credential.map { text throws(Explanation) in
                try BytesArgument.base64(text, "--credential")
            } ?? [],
            salt: salt, isVerified: uv == .required, needsTouch: true)
    }

    /// systemd 252 does not request user verification if the token says that it is not required.
    private func check(_ service: FIDOService) async throws {
        guard format == .systemd, uv == .discouraged else { return }
        if try await service.info().option(.alwaysUv) == true {
            throw Explanation(
                "not-supported", .notSupported, "this key always verifies the user, so the token has to say so",
                hint: "--uv required")
        }
    }

    private func enrolled(_ given: SystemdToken, _ service: FIDOService, _ world: World) async throws -> SystemdToken {
        guard given.credential.isEmpty else { return given }
        var request = RegistrationRequest(
            clientDataHash: try world.environment.random.draw(32, secret: false),
            relyingParty: RelyingParty(id: given.rpID, name: "Encrypted Volume"),
            user: FIDOUser(
                id: try world.environment.random.draw(32, secret: false), name: "LUKS2", displayName: "LUKS2"))
        request.algorithms = [.es256, .edDSA, .rs256]
        request.userVerification = given.isVerified ? .required : .discouraged
        request.extensions.createsHMACSecret = true
        let made = try await service.register(request)
        var token = given
        token.credential = made.response.authenticatorData.credential?.id ?? []
        return token
    }

    /// Finds the token whose credential is on this key, and its secret.
    private func find(
        _ tokens: [SystemdToken], _ service: FIDOService
    ) async throws -> (SystemdToken, SharedSecret) {
        for token in tokens {
            do { return (token, try await token.secret(of: service)) } catch FIDOError.noCredentials { continue }
        }
        throw Explanation(
            "no-such-credential", .notFound, "the key has the credential of none of the \(tokens.count) tokens",
            hint: "try the other key")
    }

    private func written(_ secret: SharedSecret, _ world: World) -> [UInt8] {
        let end = output == "-" && world.terminal.isOutputTerminal ? "\n" : ""
        return secret.value.withBytes { bytes in
            switch format {
            case .raw: Array(bytes)
            // A line end would become part of a LUKS passphrase, so only people get one.
            case .hex: Array((Hex.encode(Array(bytes)) + end).utf8)
            case .base64, .systemd: Array((Base64.encode(Array(bytes)) + end).utf8)
            }
        }
    }
}

/// A LUKS2 token of systemd-cryptenroll(1), type systemd-fido2, reduced to the members that concern a key.
struct SystemdToken {
    static let usualRPID = "io.systemd.cryptsetup"

    var rpID: String
    var credential: [UInt8]
    var salt: [UInt8]
    /// fido2-clientPin-required or fido2-uv-required.
    var isVerified: Bool
    /// fido2-up-required.
    var needsTouch: Bool

    /// Parses systemd tokens: a single one, or a header as printed by 'cryptsetup luksDump --dump-json-metadata'.
    static func all(parsing bytes: [UInt8]) throws -> [SystemdToken] {
        let json = try JSONValue(parsing: bytes)
        let listed = json["tokens"]?.object.map { $0.members.map(\.value) } ?? [json]
        let found = try listed.filter { $0["type"]?.string == "systemd-fido2" }.map(SystemdToken.init(json:))
        guard !found.isEmpty else {
            throw Explain.malformed(
                "there is no token of type systemd-fido2", hint: "cryptsetup token export --token-id N DEVICE")
        }
        return found
    }

    private init(json: JSONValue) throws {
        func bytes(_ name: String) throws(Explanation) -> [UInt8] {
            guard let text = json[name]?.string, let bytes = try? Base64.decode(text), !bytes.isEmpty else {
                throw Explain.malformed("the token has no \(name) in base 64")
            }
            return bytes
        }
        credential = try bytes("fido2-credential")
        salt = try bytes("fido2-salt")
        guard salt.count == 32 else { throw Explain.malformed("the token's salt has \(salt.count) bytes, not 32") }
        rpID = json["fido2-rp"]?.string ?? Self.usualRPID
        func flag(_ name: String, _ usual: Bool) -> Bool { json[name]?.bool ?? usual }
        // Tokens before systemd 249 lack these members, and imply PIN and touch.
        isVerified = flag("fido2-clientPin-required", true) || flag("fido2-uv-required", false)
        needsTouch = flag("fido2-up-required", true)
    }

    init(rpID: String, credential: [UInt8], salt: [UInt8], isVerified: Bool, needsTouch: Bool) {
        self.rpID = rpID
        self.credential = credential
        self.salt = salt
        self.isVerified = isVerified
        self.needsTouch = needsTouch
    }

    /// The token in the format of systemd-cryptenroll.
    func json(keyslot: Int?) -> JSONValue {
        [
            "type": "systemd-fido2", "keyslots": .array([.string("\(keyslot ?? 0)")]),
            "fido2-credential": .string(Base64.encode(credential)), "fido2-salt": .string(Base64.encode(salt)),
            "fido2-rp": .string(rpID), "fido2-clientPin-required": .bool(isVerified),
            "fido2-up-required": .bool(needsTouch), "fido2-uv-required": false,
        ]
    }

    /// Returns the secret that its credential derives from its salt.
    func secret(of service: FIDOService) async throws -> SharedSecret {
        var request = AssertionRequest(
            rpID: rpID, clientDataHash: [UInt8](repeating: 0, count: 32),
            allowList: [CredentialDescriptor(id: credential)])
        request.userVerification = isVerified ? .required : .discouraged
        request.requiresPresence = needsTouch
        request.extensions.salts = HMACSecretSalts(salt)
        guard let secrets = try await service.assert(request).first?.extensions.secrets else {
            throw Explanation("not-supported", .notSupported, "the key made no secret: it has no hmac-secret")
        }
        return secrets.first
    }
}
