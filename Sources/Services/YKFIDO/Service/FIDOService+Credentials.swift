// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension FIDOService {
    /// How many credentials the key remembers and can remember (credentialManagement getCredsMetadata).
    public func credentialStorage() throws(FIDOError) -> CredentialStorage { try session.manage(.metadata) }

    /// The relying parties that the key remembers credentials for (enumerateRPsBegin and GetNextRP).
    public func relyingParties() throws(FIDOError) -> [StoredRelyingParty] {
        try session.list(first: .firstRelyingParty, next: .nextRelyingParty, total: \.total)
    }

    /// The credentials that the key remembers for a relying party (enumerateCredentialsBegin and GetNextCredential).
    public func credentials(of relyingParty: StoredRelyingParty) throws(FIDOError) -> [StoredCredential] {
        try session.list(
            first: .firstCredential(rpIDHash: relyingParty.idHash), next: .nextCredential, total: \.total)
    }

    /// Makes the key forget a credential (deleteCredential).
    public func delete(_ credential: CredentialDescriptor) throws(FIDOError) {
        try session.manage(.delete(credential))
        session.infoDidChange()
    }

    /// Changes the names of a credential's account (updateUserInformation); keys of CTAP 2.1 and later. Of each name as
    /// much is kept as 64 bytes hold.
    public func update(_ credential: CredentialDescriptor, user: FIDOUser) throws(FIDOError) {
        guard try session.info().option(.credMgmt) == true else { throw .unsupported("credMgmt") }
        try session.manage(.update(credential, user: user.withShortNames))
    }
}

extension FIDOSession {
    /// The most entries of a list that a key can make this program ask for.
    static let listLimit = 4096

    /// Sends an authorised subcommand; the finished command where the key has it, else its preview. What only reads is
    /// done with the token that lasts, where there is one that the key still takes.
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

    /// The whole of a list: the first answer says how many there are, and nothing comes between the others.
    func list<Entry>(
        first: CredentialManagementRequest<Entry>, next: CredentialManagementRequest<Entry>,
        total: (Entry) -> UInt64?
    ) throws(FIDOError) -> [Entry] {
        let code = try credentialManagementCode()
        let begin: Entry
        do { begin = try manage(first) } catch .noCredentials { return [] }
        let count = try count(of: total(begin), during: first.name)
        guard count > 0 else { return [] }
        let deadline = ctap.environment.deadline()
        var entries = [begin]
        while entries.count < count {
            try check(deadline, "a list of \(count) entries")
            entries.append(try send(next.command(code, nil)))
        }
        return entries
    }

    /// How many entries a list has, when the key says so; more than any key has throws `malformed`.
    func count(of total: UInt64?, during name: String) throws(FIDOError) -> Int {
        let count = Int(clamping: total ?? 1)
        guard count <= Self.listLimit else {
            throw .ctap(.malformed(.init(.tooLarge, at: 0, "a list of \(count) entries"), during: name))
        }
        return count
    }

    /// All messages of a list have one time together, so that no count makes a program wait for ever.
    func check(_ deadline: Deadline, _ doing: @autoclosure () -> String) throws(FIDOError) {
        do { try deadline.check(doing()) } catch { throw .ctap(.link(.device(error))) }
    }

    private func credentialManagementCode() throws(FIDOError) -> CTAPCommandCode {
        let info = try info()
        if info.option(.credMgmt) == true { return .credentialManagement }
        if info.option(.credentialMgmtPreview) == true { return .credentialManagementPreview }
        throw .unsupported("credMgmt")
    }
}
