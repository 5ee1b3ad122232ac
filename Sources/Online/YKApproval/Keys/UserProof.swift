// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKFIDO
public import YKTransport
public import YKWire

/// A FIDO2 credential with which the user proves presence before an approval: for a PIV key that signs without a touch,
/// so that its account can be polled in the background.
///
/// The server does not see the proof. It protects against mistakes and against programs that use this library, not
/// against a program that uses the unlocked PIV application itself.
public struct UserProof: Hashable, Sendable {
    /// The relying party of the credentials.
    public static let relyingParty = "ykit:approve"

    /// The credential's identifier.
    public let credential: [UInt8]
    /// The credential's public key, an ES256 key in a SubjectPublicKeyInfo (RFC 5280 §4.1.2.7).
    private let publicKey: [UInt8]

    /// The form in the store.
    public var json: JSONValue {
        [
            "credential": .string(Base64.encodeURL(credential)), "publicKey": .string(Base64.encodeURL(publicKey)),
            "userVerification": "required",
        ]
    }

    /// Reads the form in the store; `nil` if it is malformed or does not require user verification.
    public init?(_ json: JSONValue) {
        guard json["userVerification"]?.string == "required",
            let credential = json["credential"]?.string.flatMap({ try? Base64.decode($0) }),
            let publicKey = json["publicKey"]?.string.flatMap({ try? Base64.decode($0) })
        else { return nil }
        self.init(credential, publicKey: publicKey)
    }

    private init?(_ credential: [UInt8], publicKey: [UInt8]) {
        guard (1...1024).contains(credential.count), (try? COSEKey(subjectPublicKeyInfo: publicKey)) != nil
        else { return nil }
        (self.credential, self.publicKey) = (credential, publicKey)
    }

    /// Creates a non-discoverable credential for an account. Requires a touch and the key's PIN or fingerprint.
    ///
    /// - Parameters:
    ///   - name: The account's name.
    /// - Throws: `cannotVerifyUser` if the key has neither a PIN nor a fingerprint, `fido`, `unproven`, or `random`.
    public static func make(
        _ service: FIDOService, name: String, _ random: any RandomSource
    ) async throws(ApprovalError) -> UserProof {
        let (hash, user) = (try draw(32, random), try draw(16, random))
        var request = RegistrationRequest(
            clientDataHash: hash, relyingParty: RelyingParty(id: relyingParty, name: "ykit approve"),
            user: FIDOUser(id: user, name: name, displayName: name))
        request.algorithms = [.es256]
        request.userVerification = .required
        let data: AuthenticatorData
        do {
            let info = try await service.info()
            guard info.hasPIN || info.hasBuiltInUV else { throw ApprovalError.cannotVerifyUser }
            data = try await service.register(request).response.authenticatorData
        } catch let error as FIDOError { throw .fido(error) } catch { throw .cannotVerifyUser }
        guard let made = data.credential, data.flags.contains(.userVerified),
            let key = made.publicKey.subjectPublicKeyInfo, let proof = UserProof(made.id, publicKey: key)
        else { throw .unproven("the credential cannot be used as a proof") }
        return proof
    }

    /// Requests a proof of presence for one request. Requires a touch and the key's PIN or fingerprint.
    ///
    /// - Parameters:
    ///   - challenge: The text being approved; the key signs its hash together with a random number.
    /// - Throws: `fido`, such as `noCredentials` for another key; `unproven` if the key's answer does not verify;
    ///   `random`.
    public func prove(
        _ service: FIDOService, _ challenge: [UInt8], _ random: any RandomSource
    ) async throws(ApprovalError) {
        let hash = HashAlgorithm.sha256.hash(try Self.draw(32, random) + challenge)
        var request = AssertionRequest(
            rpID: Self.relyingParty, clientDataHash: hash, allowList: [CredentialDescriptor(id: credential)])
        request.userVerification = .required
        let assertions: [Assertion]
        do { assertions = try await service.assert(request) } catch { throw .fido(error) }
        guard let assertion = assertions.first, let key = try? COSEKey(subjectPublicKeyInfo: publicKey) else {
            throw .unproven("the key gave no signature")
        }
        var check = AssertionVerification(rpID: Self.relyingParty, publicKey: key)
        check.requiresUserVerification = true
        do {
            try check.check(
                assertion.response.authenticatorData, signature: assertion.response.signature, clientDataHash: hash)
        } catch { throw .unproven("\(error)") }
    }

    private static func draw(_ count: Int, _ random: any RandomSource) throws(ApprovalError) -> [UInt8] {
        do { return try random.draw(count, secret: false) } catch { throw .random }
    }
}
