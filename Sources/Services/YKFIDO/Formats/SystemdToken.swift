// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// A LUKS2 token of systemd-cryptenroll(1), type systemd-fido2, reduced to the members that concern a key.
public struct SystemdToken: Hashable, Sendable {
    /// The relying party of credentials that systemd-cryptenroll creates.
    public static let defaultRPID = "io.systemd.cryptsetup"

    /// The relying party (fido2-rp).
    public var rpID: String
    /// The credential (fido2-credential).
    public var credential: [UInt8]
    /// The salt, 32 bytes (fido2-salt).
    public var salt: [UInt8]
    /// Whether the user must be verified (fido2-clientPin-required or fido2-uv-required).
    public var isVerified: Bool
    /// Whether a touch is required (fido2-up-required).
    public var needsTouch: Bool

    /// Creates a token.
    public init(rpID: String, credential: [UInt8], salt: [UInt8], isVerified: Bool, needsTouch: Bool) {
        self.rpID = rpID
        self.credential = credential
        self.salt = salt
        self.isVerified = isVerified
        self.needsTouch = needsTouch
    }

    /// Reads the tokens of type systemd-fido2 from a single token, or from a header as printed by
    /// `cryptsetup luksDump --dump-json-metadata`.
    ///
    /// - Parameter noting: Receives what is wrong with tokens that cannot be used beside others that can.
    /// - Returns: Empty if all tokens are of other types.
    /// - Throws: `malformed` with the member, if no token can be used.
    public static func all(
        parsing bytes: [UInt8], noting: (FormatError) -> Void = { _ in }
    ) throws(FormatError) -> [SystemdToken] {
        let json: JSONValue
        do { json = try JSONValue(parsing: bytes) } catch { throw FormatError(.malformed("not JSON: \(error)")) }
        let tokens = json["tokens"]?.object.map { $0.members.map(\.value) } ?? [json]
        var found: [SystemdToken] = []
        var faults: [FormatError] = []
        for token in tokens where token["type"]?.string == "systemd-fido2" {
            do { found.append(try SystemdToken(json: token)) } catch { faults.append(error) }
        }
        if found.isEmpty, let fault = faults.first { throw fault }
        faults.forEach(noting)
        return found
    }

    /// Reads a token of type systemd-fido2.
    ///
    /// - Throws: `malformed` with the member.
    public init(json: JSONValue) throws(FormatError) {
        func bytes(_ name: String) throws(FormatError) -> [UInt8] {
            guard let text = json[name]?.string, let bytes = try? Base64.decode(text), !bytes.isEmpty else {
                throw FormatError(.malformed("the token has no \(name) in base64"))
            }
            return bytes
        }
        credential = try bytes("fido2-credential")
        salt = try bytes("fido2-salt")
        guard salt.count == 32 else {
            throw FormatError(.malformed("the token's salt has \(salt.count) bytes, not 32"))
        }
        rpID = json["fido2-rp"]?.string ?? Self.defaultRPID
        // Tokens before systemd 249 lack these members, and imply PIN and touch.
        func flag(_ name: String, _ legacy: Bool) -> Bool { json[name]?.bool ?? legacy }
        isVerified = flag("fido2-clientPin-required", true) || flag("fido2-uv-required", false)
        needsTouch = flag("fido2-up-required", true)
    }

    /// Returns the token as systemd-cryptenroll writes it.
    ///
    /// - Parameter keyslot: The key slot of the volume that has the passphrase.
    public func json(keyslot: Int) -> JSONValue {
        [
            "type": "systemd-fido2", "keyslots": .array([.string("\(keyslot)")]),
            "fido2-credential": .string(Base64.encode(credential)), "fido2-salt": .string(Base64.encode(salt)),
            "fido2-rp": .string(rpID), "fido2-clientPin-required": .bool(isVerified),
            "fido2-up-required": .bool(needsTouch), "fido2-uv-required": false,
        ]
    }
}

extension FIDOService {
    /// Returns the secret that a token's credential derives from its salt; requires a touch or the PIN as the token
    /// specifies.
    ///
    /// - Throws: `noCredentials` if the credential is on another key, `unsupported` for a credential without hmac-secret.
    public func secret(of token: SystemdToken) throws(FIDOError) -> SharedSecret {
        var request = AssertionRequest(
            rpID: token.rpID, clientDataHash: [UInt8](repeating: 0, count: 32),
            allowList: [CredentialDescriptor(id: token.credential)])
        request.userVerification = token.isVerified ? .required : .discouraged
        request.requiresPresence = token.needsTouch
        request.extensions.salts = HMACSecretSalts(token.salt)
        guard let secrets = try assert(request).first?.extensions.secrets else {
            throw .unsupported("hmac-secret")
        }
        return secrets.first
    }

    /// Creates a credential for LUKS2 volumes, as systemd-cryptenroll does; requires a touch.
    ///
    /// - Parameters:
    ///   - token: The relying party, and whether the user must be verified.
    ///   - volume: The user of the credential: systemd-cryptenroll uses the volume's UUID as identifier and name, and
    ///     its path as display name. By default a random user.
    ///   - random: The source of the user's identifier.
    /// - Returns: The token with the new credential.
    public func createCredential(
        for token: SystemdToken, of volume: FIDOUser? = nil, random: any RandomSource
    ) throws -> SystemdToken {
        var request = RegistrationRequest(
            clientDataHash: try random.draw(32, secret: false),
            relyingParty: RelyingParty(id: token.rpID, name: "Encrypted Volume"),
            user: try volume
                ?? FIDOUser(id: try random.draw(32, secret: false), name: "LUKS2", displayName: "LUKS2"))
        request.algorithms = [.es256, .edDSA, .rs256]
        request.userVerification = token.isVerified ? .required : .discouraged
        request.extensions.createsHMACSecret = true
        var enrolled = token
        enrolled.credential = try register(request).response.authenticatorData.credential?.id ?? []
        return enrolled
    }
}
