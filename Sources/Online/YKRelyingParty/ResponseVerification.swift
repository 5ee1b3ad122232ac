// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKTransport
public import YKWire

/// Verifies a stored answer by the steps of ``WebAuthnRelyingParty``, as far as the caller knows what to expect, and lists
/// the steps that were left out.
public struct ResponseVerification: Sendable {
    /// A step of WebAuthn Level 3 §7.1 and §7.2 that requires something to compare with.
    public enum Step: String, Hashable, Sendable, CaseIterable {
        /// The client data, of which only the hash is known.
        case clientData = "client data"
        /// §7.1 step 8, §7.2 step 11.
        case challenge
        /// §7.1 step 9, §7.2 step 12.
        case origin
        /// §7.1 step 14, §7.2 step 15: the identifier was derived from the origin.
        case relyingParty = "relying party"
        /// §7.2 steps 5 and 6: the answer names no credential, or it is not known which was registered.
        case credential
        /// §7.2 step 6.
        case userHandle = "user handle"
        /// §7.2 step 19.
        case backupEligibility = "backup eligibility"
        /// §7.2 step 22.
        case counter
    }

    /// What is known of the credential of an assertion.
    public enum Credential: Sendable {
        /// The record of its registration.
        case record(CredentialRecord)
        /// Its public key, with each algorithm that it may have.
        case keys([COSEKey])
    }

    /// The relying party's identifier.
    public var rpID: String
    /// What the client data must state.
    public var client: ClientDataRequirements
    /// Whether the user must have been verified.
    public var requiresUserVerification = false
    /// Whether the user must have been present.
    public var requiresPresence = true
    /// Whether to accept signatures with SHA-1, as TPMs of many Windows computers make (RS1).
    public var allowsSHA1 = false
    /// The FIDO metadata that must allow the model; otherwise whoever asks judges what vouches for the authenticator.
    public var metadata: MetadataPolicy?
    /// The time of day.
    public var clock: any WallClock = SystemClock()

    /// Creates a verification for a relying party.
    public init(rpID: String, client: ClientDataRequirements) { (self.rpID, self.client) = (rpID, client) }

    /// The steps on client data that are left out.
    ///
    /// - Parameter data: The client data; `nil` if only their hash is known.
    public func skippedSteps(of data: ClientData?) -> [Step] {
        guard data != nil else { return [.clientData] }
        return (client.challenge == nil ? [.challenge] : []) + (client.origins == nil ? [.origin] : [])
    }

    /// Verifies a registration (§7.1) except for the client data. Whether its algorithm was offered and its identifier is
    /// new, only the server that began the ceremony knows.
    ///
    /// - Returns: What vouches for the authenticator, and its model if the metadata list it.
    /// - Throws: The error of the first step that fails.
    public func verify(
        _ object: AttestationObject, clientDataHash: [UInt8]
    ) throws(CeremonyError) -> (trust: AttestationVerification.Trust, model: MetadataEntry?) {
        var check = AttestationVerification(rpID: rpID)
        check.requiresUserVerification = requiresUserVerification
        check.requiresPresence = requiresPresence
        check.allowsSHA1 = allowsSHA1
        check.clock = clock
        let policy = metadata.map { AttestationPolicy.metadata($0) } ?? AttestationPolicy.none
        return try policy.assess(object, clientDataHash, check)
    }

    /// Verifies an assertion (§7.2) except for the client data.
    ///
    /// - Returns: The steps that were left out.
    /// - Throws: The error of the first step that fails.
    public func verify(
        _ response: ResponseFile, _ data: AuthenticatorData, signature: [UInt8], by credential: Credential
    ) throws(CeremonyError) -> [Step] {
        var skipped: [Step] = []
        let keys: [COSEKey]
        switch credential {
        case .record(let record):
            guard response.credentialID == nil || response.credentialID == record.id else {
                throw .credentialNotAllowed
            }
            if response.credentialID == nil { skipped.append(.credential) }
            keys = [record.publicKey]
        case .keys(let known): (keys, skipped) = (known, [.credential])
        }
        if let handle = response.userHandle {
            if case .record(let record) = credential, !record.user.isEmpty {
                guard handle == record.user else { throw .otherUser }
            } else {
                skipped.append(.userHandle)
            }
        }
        do {
            try data.check(rpID: rpID, presence: requiresPresence, verification: requiresUserVerification)
        } catch { throw CeremonyError(data: error) }
        try check(signature, over: data.bytes + response.clientDataHash, keys)
        guard case .record(let record) = credential else { return skipped + [.backupEligibility, .counter] }
        if try record.hasOldCounter(after: data) {
            throw .counter(stored: record.signCount, received: data.counter)
        }
        return skipped
    }

    /// Checks a signature with each key until one made it.
    private func check(_ signature: [UInt8], over message: [UInt8], _ keys: [COSEKey]) throws(CeremonyError) {
        var problem = VerificationProblem.badSignature
        for key in keys {
            do throws(VerificationProblem) {
                try key.verify(signature, over: message, allowingSHA1: allowsSHA1)
                return
            } catch { problem = error }
        }
        throw .signature(problem)
    }
}

extension CredentialRecord {
    /// Checks an assertion against the record (§7.2 steps 19 and 22).
    ///
    /// - Returns: Whether the signature counter did not increase.
    /// - Throws: `backupEligibilityChanged`.
    func hasOldCounter(after data: AuthenticatorData) throws(CeremonyError) -> Bool {
        guard data.flags.contains(.backupEligible) == isBackupEligible else { throw .backupEligibilityChanged }
        return (data.counter != 0 || signCount != 0) && data.counter <= signCount
    }

    /// The record of a registration.
    ///
    /// - Parameters:
    ///   - credential: The new credential.
    ///   - data: The authenticator data of its registration.
    ///   - user: The user handle of the account; empty if it is unknown.
    ///   - transports: How the authenticator can be reached.
    public init(
        _ credential: AuthenticatorData.AttestedCredential, _ data: AuthenticatorData, user: [UInt8] = [],
        transports: [AuthenticatorTransport] = []
    ) {
        self.init(
            id: credential.id, user: user, publicKey: credential.publicKey, signCount: data.counter,
            isUserVerificationInitialized: data.flags.contains(.userVerified), transports: transports,
            isBackupEligible: data.flags.contains(.backupEligible), isBackedUp: data.flags.contains(.backedUp),
            aaguid: credential.aaguid)
    }
}
