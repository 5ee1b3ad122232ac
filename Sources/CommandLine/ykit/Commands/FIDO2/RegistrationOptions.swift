// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// The options of a registration.
struct RegistrationOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The relying party, a domain name such as example.com.", valueName: "id"))
    var rp: String?

    @Option(help: "The relying party's display name.") var rpName: String?

    @Option(help: "The account's name.") var user: String?

    @Option(help: "The account's display name.") var displayName: String?

    @Option(
        isBase64URL: true,
        help: ArgumentHelp(
            "The account's identifier, hexadecimal or base64url; random by default.", valueName: "bytes"))
    var userId: String?

    @Option(
        isBase64URL: true,
        help: ArgumentHelp("The challenge, base64url; random by default.", valueName: "bytes"))
    var challenge: String?

    @Flag(help: "Store the credential on the key: a passkey.") var resident = false

    @Option(
        help: "User verification, by PIN or fingerprint: required, discouraged, or preferred, which is the default.")
    var uv: VerificationChoice?

    @Option(help: ArgumentHelp("es256, eddsa, rs256 …, in order of preference; may be repeated.", valueName: "name"))
    var algorithm: [String] = []

    @Option(
        isBase64URL: true,
        help: ArgumentHelp(
            "Fail if the key has this credential, base64url; may be repeated.", valueName: "credential"))
    var exclude: [String] = []

    @Option(help: "Attestation conveyance: none, indirect, direct or enterprise.") var attestation: AttestationChoice?

    @OptionGroup var extensions: RegistrationExtensionOptions

    func check() throws {
        for name in algorithm where COSEAlgorithm(name: name) == nil {
            throw UsageError("'\(name.printable)' is not a known algorithm; es256, eddsa and rs256 are")
        }
    }

    /// The algorithms in order of preference.
    var algorithms: [COSEAlgorithm] {
        algorithm.isEmpty ? [.es256, .edDSA, .rs256] : algorithm.compactMap(COSEAlgorithm.init(name:))
    }

    /// Returns the options as a relying party would send them.
    func read(_ world: World) throws -> PublicKeyCredentialCreationOptions {
        guard let rp, let user else { throw Explanation.usage("--rp and --user are needed, or --options FILE") }
        let random = world.environment.random
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

/// Whether user verification is required.
enum VerificationChoice: String, CaseIterable, ExpressibleByArgument {
    case required, preferred, discouraged

    var requirement: UserVerification {
        switch self {
        case .required: .required
        case .preferred: .preferred
        case .discouraged: .discouraged
        }
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
