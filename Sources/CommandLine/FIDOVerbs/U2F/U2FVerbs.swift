// SPDX-License-Identifier: Apache-2.0

import Applications
package import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKTransport
import YKWire

/// Commands for U2F, the protocol before FIDO2.
package struct U2FGroup: ParsableCommand {
    package static let about = About(
        "U2F, the protocol before FIDO2.",
        discussion: """
            The client data is created here: type, challenge and origin, which is the application identifier as the \
            site specifies it. --challenge-hash takes the hash of client data created elsewhere.
            """,
        subcommands: [
            "version": U2FVersion.self, "register": U2FRegister.self, "authenticate": U2FAuthenticate.self,
            "check": U2FCheck.self, "pin": U2FPIN.self, "reset": U2FReset.self,
        ],
        examples: [Example("ykit u2f register --app https://example.com")])

    package init() {}
}

/// The application that requests a signature.
struct U2FOptions: ParsableArguments {
    @Option("--app <id>", help: "The application identifier, such as https://example.com.") var application: String

    /// SHA-256 of the application's identifier.
    var applicationHash: [UInt8] { HashAlgorithm.sha256.hash(application.utf8) }
}

/// The data to sign: a challenge in client data, or a hash.
struct U2FChallengeOptions: ParsableArguments {
    @Option("--challenge <bytes>", isBase64URL: true, help: "The challenge, base64url; random by default.")
    var challenge: String?

    @Option("--challenge-hash <hex>", help: "SHA-256 of client data, in hexadecimal, instead of a challenge.")
    var challengeHash: String?

    func check() throws {
        if challenge != nil, challengeHash != nil {
            throw UsageError("--challenge and --challenge-hash cannot be combined")
        }
    }

    /// Returns the data to sign, with client data of this type (U2F raw messages §7).
    func read(_ type: String, _ application: String, _ run: Run) throws -> U2FChallenge {
        if let challengeHash {
            guard let hash = try? Hex.decode(challengeHash), hash.count == 32 else {
                throw Explanation.usage("--challenge-hash takes 32 bytes in hexadecimal")
            }
            return U2FChallenge(hash: hash, clientData: nil)
        }
        let bytes =
            try challenge.map { try BytesArgument.base64($0, "--challenge") }
            ?? run.environment.random.draw(32, secret: false)
        let data: JSONValue = [
            "typ": .string("navigator.id.\(type)"), "challenge": .string(Base64.encodeURL(bytes)),
            "origin": .string(application),
        ]
        let text = Array(data.text.utf8)
        return U2FChallenge(hash: HashAlgorithm.sha256.hash(text), clientData: text)
    }
}

/// The data to sign.
struct U2FChallenge: Report {
    let hash: [UInt8]
    /// `nil` if they were made elsewhere.
    let clientData: [UInt8]?
    static let members: [Member<Self>] = [
        Member("clientData", "null with --challenge-hash") { $0.clientData.map { Base64.encodeURL($0) } },
        Member("challengeHash", "hexadecimal") { Hex.encode($0.hash) },
    ]
}

/// Shows the U2F version.
struct U2FVersion: Verb {
    static let about = About(
        "Show the key's U2F version.",
        examples: [Example("ykit u2f version")])
    static let answer = Shape(Item<String>("u2fVersion"))

    func run(in run: Run) async throws -> Outcome<String> {
        let version = try await run.openU2F().u2fVersion()
        return Outcome(version, version.printable)
    }
}

/// Registers a U2F key pair.
struct U2FRegister: Verb {
    static let about = About(
        "Create a key pair for an application. Requires a touch.",
        discussion: """
            Prints the key handle, for 'ykit u2f authenticate'. The attestation signature is checked. A YubiKey FIPS \
            of the 4 series requires its U2F PIN first, once each time it is plugged in.
            """,
        examples: [Example("ykit u2f register --app https://example.com")])

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions
    @OptionGroup var pin: PINOptions

    /// A key pair whose attestation signature is valid.
    struct Registered: Report {
        let application: String
        let made: U2FRegistration
        let challenge: U2FChallenge
        static let members: [Member<Self>] =
            [
                Member("app") { $0.application }, Member("keyHandle") { Base64.encodeURL($0.made.keyHandle) },
                Member("userPublicKey", "a point on P-256, in U2F's format") { Base64.encodeURL($0.made.publicKey) },
                Member("certificate") { Base64.encodeURL($0.made.certificate) },
                Member("signature") { Base64.encodeURL($0.made.signature) },
            ] + including { $0.challenge } + [
                Member("registrationData") { Base64.encodeURL($0.data) }, Member("verified") { _ in true },
            ]

        private var data: [UInt8] {
            let head = [0x05] + made.publicKey + [UInt8(clamping: made.keyHandle.count)]
            return head + made.keyHandle + made.certificate + made.signature
        }
    }

    func run(in run: Run) async throws -> Outcome<Registered> {
        let service = try await run.openU2F()
        let challenge = try challenge.read("finishEnrollment", application.application, run)
        run.announce("a new U2F key pair for \(application.application.printable)")
        let made = try await register(challenge.hash, service, run)
        try made.verify(challengeHash: challenge.hash, applicationHash: application.applicationHash)
        var outcome = Outcome(
            Registered(application: application.application, made: made, challenge: challenge),
            Base64.encodeURL(made.keyHandle))
        outcome.answer.isMadeOnce = true
        return outcome
    }

    private func register(_ hash: [UInt8], _ service: FIDOService, _ run: Run) async throws -> U2FRegistration {
        let applicationHash = application.applicationHash
        do {
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        } catch FIDOError.u2fPIN(.needed) {
            try await service.u2fVerifyPIN(try await run.u2fPIN(pin, for: "create a U2F key pair"))
            return try await service.u2fRegister(challengeHash: hash, applicationHash: applicationHash)
        }
    }
}

/// Signs a challenge with a U2F key pair.
struct U2FAuthenticate: Verb {
    static let about = About(
        "Sign with a key pair. Requires a touch.",
        discussion: "With --public-key the signature is checked.",
        examples: [
            Example(
                "ykit u2f authenticate \"$(cat handle.txt)\" --app https://example.com",
                "Sign with the key pair of this key handle.")
        ])

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions
    @OptionGroup var challenge: U2FChallengeOptions

    @Flag("--no-touch", help: "Do not wait for a touch, if the key can sign without one.") var noTouch = false

    @Option("--public-key <key>", isBase64URL: true, help: "The public key of the registration, base64url.")
    var publicKey: String?

    /// A signature with a key pair.
    struct Signed: Report {
        let application: String
        let keyHandle: [UInt8]
        let signature: U2FSignature
        let challenge: U2FChallenge
        let isVerified: Bool
        static let members: [Member<Self>] =
            [
                Member("app") { $0.application }, Member("keyHandle") { Base64.encodeURL($0.keyHandle) },
                Member("present", "whether the key was touched") { $0.signature.presence & 1 == 1 },
                Member("counter") { $0.signature.counter },
                Member("signature") { Base64.encodeURL($0.signature.signature) },
            ] + including { $0.challenge } + [
                Member("signatureData") { Base64.encodeURL($0.data) },
                Member("verified", "null without --public-key") { $0.isVerified ? true : nil },
            ]

        private var data: [UInt8] {
            let count = (0..<4).map { UInt8(truncatingIfNeeded: signature.counter >> (24 - 8 * UInt32($0))) }
            return [signature.presence] + count + signature.signature
        }
    }

    func run(in run: Run) async throws -> Outcome<Signed> {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let key = try publicKey.map { try Self.key($0) }
        let service = try await run.openU2F()
        let challenge = try challenge.read("getAssertion", application.application, run)
        if !noTouch {
            run.announce(to: "sign in at \(application.application.printable) with U2F")
        }
        let applicationHash = application.applicationHash
        let signed = try await U2FHandle.using {
            try await service.u2fAuthenticate(
                challengeHash: challenge.hash, applicationHash: applicationHash, keyHandle: handle,
                control: noTouch ? .doNotEnforcePresence : .enforcePresence)
        }
        if let key {
            try signed.verify(challengeHash: challenge.hash, applicationHash: applicationHash, publicKey: key)
        }
        let report = Signed(
            application: application.application, keyHandle: handle, signature: signed, challenge: challenge,
            isVerified: key != nil)
        return Outcome(report, "signed\(key == nil ? "" : ", the signature is valid"), counter \(signed.counter)")
    }

    private static func key(_ text: String) throws(Explanation) -> COSEKey {
        let point = try BytesArgument.hexOrBase64(text, "--public-key")
        guard point.count == 65, point.first == 0x04 else {
            throw .usage("--public-key takes a point of 65 bytes that begins with 04")
        }
        return COSEKey(
            ec2: .p256, algorithm: .es256, x: Array(point.dropFirst().prefix(32)), y: Array(point.dropFirst(33)))
    }
}

/// Checks whether a key handle belongs to this key.
struct U2FCheck: Verb {
    static let about = About(
        "Check whether a key handle belongs to this key. Nothing is signed; no touch is needed.",
        discussion: "The exit code is 12 if it does not.",
        examples: [Example("ykit u2f check \"$(cat handle.txt)\" --app https://example.com")])
    static let answer = Shape(
        Item<String>("app"), Item<[UInt8]>("keyHandle") { Base64.encodeURL($0) }, Item<Bool>("known"))

    @Argument("key-handle", isBase64URL: true, help: "The key handle, base64url.") var keyHandle: String

    @OptionGroup var application: U2FOptions

    func run(in run: Run) async throws -> Outcome<(String, [UInt8], Bool)> {
        let handle = try BytesArgument.hexOrBase64(keyHandle, "KEY-HANDLE")
        let service = try await run.openU2F()
        let isKnown = try await service.u2fKnows(keyHandle: handle, applicationHash: application.applicationHash)
        var outcome = Outcome(
            (application.application, handle, isKnown), isKnown ? ["the key handle belongs to this key"] : [])
        if !isKnown { outcome.answer.failure = U2FHandle.foreign }
        return outcome
    }
}

/// Explains a key handle that does not belong to the key.
enum U2FHandle {
    static let foreign = Explanation(
        "no-credentials", .notFound, "the key handle does not belong to this key, or is for another application",
        hint: "use the key that was registered, with the same --app")

    /// Uses a key handle; reports one that does not belong to this key.
    static func using<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch FIDOError.noCredentials { throw foreign }
    }
}
