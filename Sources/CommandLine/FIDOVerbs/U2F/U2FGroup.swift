// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKTransport
import YKWire

/// Commands for U2F, the protocol before FIDO2.
struct U2FGroup: ParsableCommand {
    static let about = About(
        "u2f", "U2F, the protocol before FIDO2.",
        discussion: """
            The client data is created here: type, challenge and origin, which is the application identifier as the \
            site specifies it. --challenge-hash takes the hash of client data created elsewhere.
            """,
        subcommands: [
            U2FVersion.self, U2FRegister.self, U2FAuthenticate.self, U2FCheck.self, U2FPIN.self, U2FReset.self,
        ],
        examples: [Example("ykit u2f register --app https://example.com")])
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
