// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension FIDOService {
    /// Returns the number of discoverable credentials and the remaining capacity (credentialManagement
    /// getCredsMetadata).
    public func credentialStorage() throws(FIDOError) -> CredentialStorage { try session.manage(.metadata) }

    /// Returns the number of discoverable credentials and the remaining capacity; `nil` if the key reports neither,
    /// even if it can list its credentials.
    public func credentialStorageIfTold() throws(FIDOError) -> CredentialStorage? {
        // A refused PIN is an error, and does not mean that the key reports neither.
        try session.prepareToList()
        return try session.ifTold { () throws(FIDOError) in try session.manage(.metadata) }
    }

    /// Returns the relying parties for which the key stores credentials (enumerateRPsBegin and GetNextRP).
    public func relyingParties() throws(FIDOError) -> [StoredRelyingParty] {
        try session.list(first: .firstRelyingParty, next: .nextRelyingParty, total: \.total)
    }

    /// Returns the credentials that the key stores for a relying party (enumerateCredentialsBegin and
    /// GetNextCredential).
    public func credentials(of relyingParty: StoredRelyingParty) throws(FIDOError) -> [StoredCredential] {
        try session.list(
            first: .firstCredential(rpIDHash: relyingParty.idHash), next: .nextCredential, total: \.total)
    }

    /// Returns the credentials for a relying party up to the first that the key cannot report, which some firmware answers
    /// with an error.
    ///
    /// - Returns: The credentials, and why the list ends early; `nil` if it is complete.
    package func listedCredentials(
        of relyingParty: StoredRelyingParty
    ) throws(FIDOError) -> (credentials: [StoredCredential], problem: FIDOError?) {
        try session.listed(
            first: .firstCredential(rpIDHash: relyingParty.idHash), next: .nextCredential, total: \.total)
    }

    /// Deletes a credential (deleteCredential).
    public func delete(_ credential: CredentialDescriptor) throws(FIDOError) {
        try session.manage(.delete(credential))
        session.infoDidChange()
    }

    /// Changes the names of a credential's account (updateUserInformation); CTAP 2.1 keys and later. Names are
    /// truncated to 64 bytes.
    public func update(_ credential: CredentialDescriptor, user: FIDOUser) throws(FIDOError) {
        guard try session.info().option(.credMgmt) == true else { throw .unsupported("credMgmt") }
        try session.manage(.update(credential, user: user.withShortNames))
    }
}

extension FIDOSession {
    /// Maximum number of list entries that a key can make this program request.
    static let listLimit = 4096

    /// Obtains a token for listing, unless there is a persistent one or the key requires none.
    func prepareToList() throws(FIDOError) {
        let info = try info()
        guard persistentToken == nil, info.hasPIN || info.givesTokenForUV else { return }
        _ = try access(.credentialManagement, rpID: nil)
    }

    /// Sends an authorized subcommand, as the final command if the key has it, otherwise as the preview. Reading
    /// subcommands use the persistent token if the key still accepts it.
    func manage<Response>(_ request: CredentialManagementRequest<Response>) throws(FIDOError) -> Response {
        let code = try credentialManagementCode()
        if request.onlyReads, let persistentToken {
            let auth = persistentToken.auth(over: request.authenticated)
            do { return try send(request.command(code, auth)) } catch .ctap(.status(.pinAuthInvalid, _)) {
                self.persistentToken = nil  // The PIN was changed, or the key reset.
            }
        }
        return try authorized(over: request.authenticated, .credentialManagement) { auth throws(FIDOError) in
            try send(request.command(code, auth))
        }
    }

    /// Reads a whole list: the first response holds the number of entries, and no other command is sent in between. If
    /// the key does not report the number, entries are requested until it refuses.
    func list<Entry>(
        first: CredentialManagementRequest<Entry>, next: CredentialManagementRequest<Entry>,
        total: (Entry) -> UInt64?
    ) throws(FIDOError) -> [Entry] {
        let (entries, problem) = try listed(first: first, next: next, total: total)
        if let problem { throw problem }
        return entries
    }

    /// Reads a list up to the first entry after the first that the key refuses.
    ///
    /// - Returns: The entries, and why the list ends early.
    func listed<Entry>(
        first: CredentialManagementRequest<Entry>, next: CredentialManagementRequest<Entry>,
        total: (Entry) -> UInt64?
    ) throws(FIDOError) -> ([Entry], problem: FIDOError?) {
        let code = try credentialManagementCode()
        let begin: Entry
        do { begin = try manage(first) } catch .noCredentials { return ([], nil) }
        let reported = total(begin)
        let count = try count(of: reported ?? UInt64(Self.listLimit), during: first.subcommand.name)
        guard count > 0 else { return ([], nil) }
        let deadline = ctap.environment.deadline()
        var entries = [begin]
        while entries.count < count {
            try check(deadline, "a list of \(count) entries")
            do { entries.append(try send(next.command(code, nil))) } catch {
                guard error.isRefusal else { throw error }
                return (entries, reported == nil ? nil : error)
            }
        }
        return (entries, nil)
    }

    /// Returns the length of a list, if the key reports it.
    ///
    /// - Throws: `malformed` if it is larger than any key's list.
    func count(of total: UInt64?, during name: String) throws(FIDOError) -> Int {
        let count = Int(clamping: total ?? 1)
        guard count <= Self.listLimit else {
            throw .ctap(.malformed(.init(.tooLarge, at: 0, "a list of \(count) entries"), during: name))
        }
        return count
    }

    /// Limits all messages of a list with one deadline, so that a large count cannot block the program.
    func check(_ deadline: Deadline, _ doing: @autoclosure () -> String) throws(FIDOError) {
        do { try deadline.check(doing()) } catch { throw .ctap(.link(.device(error))) }
    }

    func credentialManagementCode() throws(FIDOError) -> CTAPCommandCode {
        let info = try info()
        if info.option(.credMgmt) == true { return .credentialManagement }
        if info.option(.credentialMgmtPreview) == true { return .credentialManagementPreview }
        throw .unsupported("credMgmt")
    }
}

extension FIDOError {
    /// Whether the key answered with an error status, which means that it has no more entries.
    fileprivate var isRefusal: Bool {
        switch self {
        case .notAllowed, .noCredentials, .ctap(.status): true
        default: false
        }
    }
}

extension FIDOService {
    /// Reads the properties of the fingerprint sensor (bioEnrollment getFingerprintSensorInfo).
    public func fingerprintSensor() throws(FIDOError) -> FingerprintSensor {
        try session.send(BioEnrollmentRequest.sensor.command(try session.bioEnrollmentCode(), nil))
    }

    /// Lists the enrolled fingerprints (enumerateEnrollments).
    public func fingerprints() throws(FIDOError) -> [Fingerprint] {
        do { return try session.enrol(.list) } catch .ctap(.status(.invalidOption, _)) { return [] }
    }

    /// Begins an enrollment and captures the first sample (enrollBegin).
    ///
    /// - Parameter timeout: How long the key waits for a finger; `nil` for its default.
    public func beginEnrollment(timeout: Duration? = nil) throws(FIDOError) -> FingerprintSample {
        try session.enrol(.begin(timeout: timeout))
    }

    /// Captures the next sample of an enrollment (enrollCaptureNextSample).
    ///
    /// - Parameters:
    ///   - template: The identifier of the fingerprint.
    ///   - timeout: How long the key waits for a finger; `nil` for its default.
    public func nextSample(of template: [UInt8], timeout: Duration? = nil) throws(FIDOError) -> FingerprintSample {
        let sample = try session.enrol(.next(template, timeout: timeout))
        if sample.remaining == 0 { session.infoDidChange() }
        return sample
    }

    /// Cancels the current enrollment (cancelCurrentEnrollment).
    public func cancelEnrollment() throws(FIDOError) {
        try session.send(BioEnrollmentRequest.cancel.command(try session.bioEnrollmentCode(), nil))
    }

    /// Names a fingerprint (setFriendlyName).
    public func renameFingerprint(_ template: [UInt8], to name: String) throws(FIDOError) {
        try session.enrol(.rename(template, to: name))
    }

    /// Removes a fingerprint (removeEnrollment).
    public func removeFingerprint(_ template: [UInt8]) throws(FIDOError) {
        try session.enrol(.remove(template))
        session.infoDidChange()
    }
}

extension FIDOSession {
    /// Sends an authorized subcommand.
    func enrol<Response>(_ request: BioEnrollmentRequest<Response>) throws(FIDOError) -> Response {
        let code = try bioEnrollmentCode()
        return try authorized(over: request.authenticated, .bioEnrollment) { auth throws(FIDOError) in
            try send(request.command(code, auth))
        }
    }

    func bioEnrollmentCode() throws(FIDOError) -> CTAPCommandCode {
        let info = try info()
        if info.option(.bioEnroll) != nil { return .bioEnrollment }
        if info.option(.userVerificationMgmtPreview) != nil { return .bioEnrollmentPreview }
        throw .unsupported("bioEnroll")
    }
}

extension FIDOService {
    /// Configures the key (authenticatorConfig), and checks the change with getInfo.
    ///
    /// - Throws: `unsupported`, before anything is sent, if the key does not list the feature; `notApplied` if the key
    ///   accepted the change but does not report it afterwards, `unchecked` if it does not answer then.
    public func configure(_ change: AuthenticatorConfig.Change) throws(FIDOError) {
        let info = try session.info()
        guard info.option(.authnrCfg) == true else { throw .unsupported("authnrCfg") }
        if let known = info.configCommands, !known.contains(change.subcommand) {
            throw .unsupported("authenticatorConfigCommands \(change.subcommand)")
        }
        switch change {
        case .enableEnterpriseAttestation where info.option(.ep) == nil: throw .unsupported("ep")
        case .toggleAlwaysUV where info.option(.alwaysUv) == nil: throw .unsupported("alwaysUv")
        case .pinRules where info.option(.setMinPINLength) != true: throw .unsupported("setMinPINLength")
        case .enableLongTouchForReset where info.configCommands == nil || info.needsLongTouchForReset == nil:
            throw .unsupported("longTouchForReset")
        default: break
        }
        try session.authorized(over: change.authenticated, .config) { auth throws(FIDOError) in
            try session.send(AuthenticatorConfig(change, auth: auth))
        }
        session.infoDidChange()
        if case .pinRules = change { session.token = nil }
        let after: AuthenticatorInfo?
        do { after = try session.infoUnlessReplayed() } catch { throw .unchecked(error) }
        guard let after, let missing = change.missing(before: info, after: after) else { return }
        throw .notApplied(missing)
    }
}

extension FIDOSession {
    /// The key's current capabilities; `nil` when replaying a recording that ends before they are read, as older ones
    /// do.
    fileprivate func infoUnlessReplayed() throws(FIDOError) -> AuthenticatorInfo? {
        do { return try info() } catch .ctap(.link(let error)) {
            guard case .replay? = error.link else { throw .ctap(.link(error)) }
            return nil
        }
    }
}

extension AuthenticatorConfig.Change {
    /// What the key should report after this change but does not; `nil` if the change is complete. The relying parties
    /// that receive the minimum length cannot be read back.
    fileprivate func missing(before: AuthenticatorInfo, after: AuthenticatorInfo) -> String? {
        switch self {
        case .enableEnterpriseAttestation: after.option(.ep) == true ? nil : "enterprise attestation"
        case .toggleAlwaysUV:
            after.option(.alwaysUv) == before.option(.alwaysUv) ? "the alwaysUv option" : nil
        case .pinRules(let rules):
            if let length = rules.minLength, after.minPINLength < length {
                "the minimum PIN length"
            } else if rules.forcesChange, !after.mustChangePIN {
                "the forced PIN change"
            } else if rules.requiresComplexity, after.hasPINComplexityPolicy != true {
                "the PIN complexity policy"
            } else {
                nil
            }
        case .enableLongTouchForReset: after.needsLongTouchForReset == true ? nil : "the long touch for a reset"
        case .vendor: nil
        }
    }
}
