// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// Ceremonies with U2F-only keys (CTAP 2.2 §7).
extension FIDOSession {
    /// Creates a credential with U2F REGISTER: ES256, not discoverable, without user verification.
    func registerU2F(_ request: RegistrationRequest) throws(FIDOError) -> Registration {
        guard request.algorithms.contains(.es256) else {
            throw .ctap(.status(.unsupportedAlgorithm, during: "U2F REGISTER"))
        }
        if request.isResident { throw .unsupported("rk") }
        if request.userVerification == .required { throw .unsupported("uv") }
        try request.extensions.check(nil)
        for id in [request.relyingParty.id, request.alsoExcludedFor].compactMap({ $0 }) {
            guard try u2fHas(request.excludeList, for: id) != nil else { continue }
            try touchU2F()
            throw .credentialExcluded
        }
        let application = HashAlgorithm.sha256.hash(request.relyingParty.id.utf8)
        let made = try u2f { u2f throws(CTAPError) in
            try u2f.register(challengeHash: request.clientDataHash, applicationHash: application)
        }
        let object = made.attestationObject(applicationHash: application)
        let response = MakeCredential.Response(
            format: object.format, authenticatorData: object.authenticatorData, statement: object.statement,
            isEnterpriseAttestation: false, largeBlobKey: nil, unsignedExtensions: nil)
        return Registration(
            response: response, extensions: RegistrationExtensionOutputs(nil, secrets: nil), isResident: false)
    }

    /// Requests an assertion from a credential of the list with U2F AUTHENTICATE, for the first identifier that
    /// matches.
    func assertU2F(_ request: AssertionRequest, for ids: [String]) throws(FIDOError) -> Assertion {
        if request.userVerification == .required { throw .unsupported("uv") }
        try request.extensions.check(nil)
        for id in ids {
            guard let credential = try u2fHas(request.allowList, for: id) else { continue }
            return try assertU2F(request, credential, for: id)
        }
        throw .noCredentials
    }

    private func assertU2F(
        _ request: AssertionRequest, _ credential: CredentialDescriptor, for id: String
    ) throws(FIDOError) -> Assertion {
        let application = HashAlgorithm.sha256.hash(id.utf8)
        let signed = try u2f { u2f throws(CTAPError) in
            try u2f.authenticate(
                request.requiresPresence ? .enforcePresence : .doNotEnforcePresence,
                challengeHash: request.clientDataHash, applicationHash: application, keyHandle: credential.id)
        }
        let response = GetAssertion.Response(
            credential: credential, authenticatorData: signed.authenticatorData(applicationHash: application),
            signature: signed.signature, user: nil, numberOfCredentials: nil, isUserSelected: false,
            largeBlobKey: nil, unsignedExtensions: nil)
        return Assertion(
            response: response, credential: credential, rpID: id,
            extensions: AssertionExtensionOutputs(nil, secrets: nil))
    }

    /// The credential of a list that the key has, over U2F; nothing is signed.
    func u2fHas(_ list: [CredentialDescriptor], for id: String) throws(FIDOError) -> CredentialDescriptor? {
        let application = HashAlgorithm.sha256.hash(id.utf8)
        let challenge = [UInt8](repeating: 0, count: 32)
        guard ctap.link.profile.hasU2F else { return nil }
        for credential in list {
            do {
                let isKnown = try u2f { u2f throws(CTAPError) in
                    try u2f.knows(credential.id, challengeHash: challenge, applicationHash: application)
                }
                if isKnown { return credential }
            } catch .ctap(.u2fStatus) where isCTAP2 {
                return nil  // A key that always verifies its user has U2F switched off.
            }
        }
        return nil
    }

    /// Waits for a touch by creating a credential, which is discarded.
    func touchU2F() throws(FIDOError) {
        let nobody = [UInt8](repeating: 0, count: 32)
        _ = try u2f { u2f throws(CTAPError) in try u2f.register(challengeHash: nobody, applicationHash: nobody) }
    }
}
