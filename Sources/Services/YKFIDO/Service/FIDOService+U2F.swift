// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKTransport
import YKWire

extension FIDOService {
    /// Reads the key's U2F version, `U2F_V2` (VERSION).
    public func u2fVersion() throws(FIDOError) -> String {
        try session.u2f { u2f throws(CTAPError) in try u2f.version() }
    }

    /// Creates a U2F key pair after a touch (REGISTER). Both hashes have 32 bytes.
    public func u2fRegister(challengeHash: [UInt8], applicationHash: [UInt8]) throws(FIDOError) -> U2FRegistration {
        try session.u2f { u2f throws(CTAPError) in
            try u2f.register(challengeHash: challengeHash, applicationHash: applicationHash)
        }
    }

    /// Signs with a U2F key pair (AUTHENTICATE), by default after a touch.
    ///
    /// - Throws: `noCredentials` for a key handle of another key.
    public func u2fAuthenticate(
        challengeHash: [UInt8], applicationHash: [UInt8], keyHandle: [UInt8],
        control: U2F.Control = .enforcePresence
    ) throws(FIDOError) -> U2FSignature {
        guard keyHandle.count <= 255 else { throw .noCredentials }
        do {
            return try session.u2f { u2f throws(CTAPError) in
                try u2f.authenticate(
                    control, challengeHash: challengeHash, applicationHash: applicationHash, keyHandle: keyHandle)
            }
        } catch .ctap(.u2fStatus(let word, _)) where U2FSession.foreignHandle.contains(word) {
            throw .noCredentials
        }
    }

    /// Returns whether a key handle belongs to this key (AUTHENTICATE, check only); nothing is signed.
    public func u2fKnows(keyHandle: [UInt8], applicationHash: [UInt8]) throws(FIDOError) -> Bool {
        try session.u2f { u2f throws(CTAPError) in
            try u2f.knows(
                keyHandle, challengeHash: [UInt8](repeating: 0, count: 32), applicationHash: applicationHash)
        }
    }

    // MARK: - The PIN of the YubiKey 4 FIPS

    /// Verifies the U2F PIN of a YubiKey 4 FIPS, which then creates key pairs until it loses power.
    ///
    /// A wrong PIN uses up one of three retries; the correct one restores them.
    ///
    /// - Throws: `u2fPIN` if the PIN is wrong, blocked or not set; `unsupported` for other keys.
    public func u2fVerifyPIN(_ pin: SharedSecret) throws(FIDOError) {
        try u2fManage { u2f throws(CTAPError) in try u2f.verifyPIN(pin.value) }
    }

    /// Sets the first U2F PIN of a YubiKey 4 FIPS, which puts the key into FIPS mode. The length of the PIN must be in
    /// ``U2F/pinLengths``.
    ///
    /// - Throws: `u2fPIN` if a PIN is already set, which uses up no retry, or the new one has another length;
    ///   `unsupported` for other keys.
    public func u2fSetPIN(_ pin: SharedSecret) throws(FIDOError) {
        try Self.checkU2FPIN(pin)
        try u2fManage(hasOld: false) { u2f throws(CTAPError) in
            try u2f.setPIN(pin.value, replacing: Secret(utf8: ""))
        }
    }

    /// Changes the U2F PIN of a YubiKey 4 FIPS.
    ///
    /// - Throws: `u2fPIN` if the old PIN is wrong, blocked or not set, or the length of the new one is not in
    ///   ``U2F/pinLengths``; `unsupported` for other keys.
    public func u2fChangePIN(from old: SharedSecret, to pin: SharedSecret) throws(FIDOError) {
        try Self.checkU2FPIN(pin)
        guard old.value.count > 0 else { throw .u2fPIN(.wrong) }
        try u2fManage { u2f throws(CTAPError) in try u2f.setPIN(pin.value, replacing: old.value) }
    }

    /// Erases all U2F credentials of a YubiKey 4 FIPS and its PIN, after a touch. The key permanently leaves its FIPS
    /// mode.
    ///
    /// - Throws: `notAllowed` if the key was plugged in too long ago; `unsupported` for other keys.
    public func u2fReset() throws(FIDOError) {
        do { try u2fManage { u2f throws(CTAPError) in try u2f.reset() } } catch .u2fPIN(.notSet) {
            throw .notAllowed("U2F RESET")
        }
    }

    private static func checkU2FPIN(_ pin: SharedSecret) throws(FIDOError) {
        guard U2F.pinLengths.contains(pin.value.count) else { throw .u2fPIN(.badLength(bytes: pin.value.count)) }
    }

    /// Runs a command of the YubiKey 4 FIPS. The key answers 6700 if a PIN is set but was not given (ykman 5.9.2).
    private func u2fManage(
        hasOld: Bool = true, _ body: (U2FSession) throws(CTAPError) -> Void
    ) throws(FIDOError) {
        do { try session.u2f(body) } catch .ctap(.u2fStatus(let word, let command)) {
            switch word {
            case .authenticationBlocked: throw .u2fPIN(.blocked)
            case .commandNotAllowed: throw .u2fPIN(.notSet)
            case .wrongLength where !hasOld: throw .u2fPIN(.alreadySet)
            case .unknownInstruction, .unknownClass: throw .unsupported("U2F PIN")
            case let word where word.sw1 == 0x63: throw .u2fPIN(.wrong)
            default: throw .ctap(.u2fStatus(word, during: command))
            }
        }
    }
}

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
