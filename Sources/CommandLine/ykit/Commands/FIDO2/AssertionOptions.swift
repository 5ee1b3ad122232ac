// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// The options of an assertion.
struct AssertionOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The relying party, a domain name such as example.com.", valueName: "id"))
    var rp: String?

    @Option(
        isBase64URL: true,
        help: ArgumentHelp(
            "This credential, base64url; may be repeated. Without one, those the key stores.",
            valueName: "credential"))
    var credential: [String] = []

    @Option(
        isBase64URL: true,
        help: ArgumentHelp("The challenge, base64url; random by default.", valueName: "bytes"))
    var challenge: String?

    @Option(
        help: "User verification, by PIN or fingerprint: required, discouraged, or preferred, which is the default.")
    var uv: VerificationChoice?

    @Option(
        isBase64URL: true,
        help: ArgumentHelp(
            "Make a secret from this salt of 32 bytes, hexadecimal or base64url; twice for two (hmac-secret).",
            valueName: "bytes"))
    var salt: [String] = []

    @Flag(help: "Ask for the bytes stored with the credential.") var credBlob = false

    @Flag(help: "Do not wait for a touch; few sites accept the answer.") var noTouch = false

    func check() throws {
        if salt.count > 2 { throw UsageError("there can be two salts at most") }
    }

    /// The decoded salts.
    var salts: HMACSecretSalts? {
        get throws(Explanation) {
            var bytes: [[UInt8]] = []
            for text in salt { bytes.append(try BytesArgument.hexOrBase64(text, "--salt", count: 32)) }
            return bytes.first.flatMap { HMACSecretSalts($0, bytes.dropFirst().first) }
        }
    }

    /// The decoded credential ids.
    var credentials: [[UInt8]] {
        get throws(Explanation) {
            var ids: [[UInt8]] = []
            for text in credential { ids.append(try BytesArgument.base64(text, "--credential")) }
            return ids
        }
    }

    /// Returns the options as a relying party would send them.
    func read(_ world: World) throws -> PublicKeyCredentialRequestOptions {
        let challenge =
            try challenge.map { try BytesArgument.base64($0, "--challenge") }
            ?? world.environment.random.draw(32, secret: false)
        var options = PublicKeyCredentialRequestOptions(
            rpID: rp, challenge: challenge,
            allowCredentials: try credentials.map { PublicKeyCredentialDescriptor(id: $0) })
        options.userVerification = uv?.requirement ?? .preferred
        if let salts = try salts {
            var inputs: JSON = ["salt1": .string(Base64.encodeURL(salts.first))]
            if let second = salts.second, var object = inputs.object {
                object["salt2"] = .string(Base64.encodeURL(second))
                inputs = .object(object)
            }
            options.extensions["hmacGetSecret"] = inputs
        }
        if credBlob { options.extensions["getCredBlob"] = true }
        return options
    }
}

/// Requests an assertion without a touch.
struct WithoutTouch: ClientExtension {
    func prepare(_ request: inout AssertionRequest, _ ceremony: RequestCeremony) throws(WebAuthnError) {
        request.requiresPresence = false
    }
}
