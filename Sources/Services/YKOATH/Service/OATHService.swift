// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKTransport
import YKWire

/// The OATH application of a key (YKOATH): one-time codes (RFC 4226 and RFC 6238).
///
/// Every method runs a whole exchange with the key on the service's own thread; concurrent calls never interleave.
public actor OATHService: CardKeyService {
    /// The runtime of the service.
    public nonisolated let runtime: ServiceRuntime
    let session: OATHSession

    private init(_ session: sending OATHSession, _ runtime: ServiceRuntime) {
        self.session = session
        self.runtime = runtime
    }

    /// Selects the application; YubiKeys from firmware 4.0 on then get extended-length commands.
    ///
    /// - Throws: `card(.appletMissing)` if the key has no OATH application, or it is disabled;
    ///   `otherApplication` for a Nitrokey 3.
    public static func open(_ channel: sending CardChannel) async throws(OATHError) -> OATHService {
        let (runtime, session) = try await ServiceRuntime.open(card: channel, OATHError.card) {
            channel throws(OATHError) in try OATHSession(channel)
        }
        return OATHService(session, runtime)
    }

    /// The application's reply to the latest SELECT.
    public var info: OATHInfo { session.info }

    /// The number of exchanges with the card.
    public var statistics: ServiceStatistics { ServiceStatistics(exchanges: session.channel.exchanges) }

    /// Lets other programs use the card until the next operation.
    public func rest() { session.channel.rest() }

    /// Closes the connection to the card.
    public func close() { session.channel.close() }

    /// Lists the accounts in the key's order (LIST). LIST does not return whether an account requires a touch.
    public func accounts() throws(OATHError) -> [OATHAccount] { try session.send(ListAccounts()) }

    /// The current time of this service's environment, in seconds since 1970.
    var now: Int64 { session.channel.environment.clock.now }

    /// Unlocks the accounts (VALIDATE) and verifies that the key knows the password too. The access key is kept to
    /// unlock again if another program resets the card.
    ///
    /// Does nothing if no password is set.
    ///
    /// - Throws: `wrongPassword`, or `notAuthentic` if the key's response is wrong.
    public func unlock(with key: consuming AccessKey) throws(OATHError) { try session.unlock(with: key) }

    /// Sets or changes the password (SET CODE).
    public func setAccessKey(_ key: consuming AccessKey) throws(OATHError) {
        let challenge = try lift({ OATHError.card(.link($0)) }) { () throws(LinkError) in
            try session.channel.environment.random.draw(8, secret: false)
        }
        try session.send(SetAccessKey(key, challenge: challenge))
        session.passwordDidChange(to: key)
    }

    /// Removes the password (SET CODE without a key).
    public func removeAccessKey() throws(OATHError) {
        try session.send(SetAccessKey.removal)
        session.passwordDidChange(to: nil)
    }

    /// Writes an account (PUT), overwriting one of the same name: check ``conflicts(with:)`` first.
    ///
    /// An invalid account is refused before anything is sent: `emptyName`, `nameTooLong`, `emptySecret`,
    /// `unsupportedDigits`, `unsupportedKind`, `unsupported`. The key answers `full` or `locked`.
    public func put(_ new: NewOATHAccount) throws(OATHError) {
        try check(new.id)
        guard let hash = new.algorithm.hash, [.totp, .hotp].contains(new.id.type) else {
            throw .unsupportedKind(new.id.type, new.algorithm)
        }
        guard let digits = UInt8(exactly: new.digits), (6...8).contains(digits) else {
            throw .unsupportedDigits(new.digits)
        }
        if new.secret.value.isEmpty { throw .emptySecret }
        if new.needsTouch { try require(.touch) }
        if new.algorithm == .sha512 { try require(.sha512) }
        let key = OATHKey(new.secret.value, algorithm: hash)
        let counter = new.id.type == .hotp ? new.counter : 0
        try session.send(
            PutAccount(
                account: new.id, algorithm: new.algorithm, digits: digits, key: key, needsTouch: new.needsTouch,
                counter: counter))
    }

    /// Removes an account (DELETE).
    public func delete(_ id: OATHAccountID) throws(OATHError) {
        try session.send(DeleteAccount(account: id.rawName))
    }

    /// Renames an account (RENAME); YubiKeys support this from firmware 5.3.1. Its type does not change.
    public func rename(_ id: OATHAccountID, to new: OATHAccountID) throws(OATHError) {
        try require(.rename)
        try check(new)
        try session.send(RenameAccount(account: id.rawName, newName: new.rawName))
    }

    /// Replaces an account of the same name on keys that refuse to overwrite it with ``put(_:)``.
    ///
    /// The key holds the old account or the new one at every moment. If the key supports renaming, the old account is
    /// called `ykit-replaced` until the new one is stored; otherwise the new account is stored as `ykit-replacing`
    /// before the old one is deleted.
    public func replace(_ old: OATHAccountID, with new: NewOATHAccount) throws(OATHError) {
        let names = Set(try accounts().map(\.id.rawName))
        let spare = Self.spareName("ykit-replaced", like: old, besides: names)
        do { try rename(old, to: spare) } catch {
            guard case .unsupported(.rename, _, _) = error else { throw error }
            return try replaceWithoutRenaming(old, with: new, besides: names)
        }
        do { try put(new) } catch {
            try? rename(spare, to: old)
            throw error
        }
        do { try delete(spare) } catch { throw .unfinished(.oldRemains(spare), error) }
    }

    private func replaceWithoutRenaming(
        _ old: OATHAccountID, with new: NewOATHAccount, besides names: Set<[UInt8]>
    ) throws(OATHError) {
        var copy = new
        copy.id = Self.spareName("ykit-replacing", like: new.id, besides: names)
        try put(copy)
        do { try delete(old) } catch {
            // Only a refusal says that the old one is still there; otherwise the copy may be all that is left.
            switch error.cardCause {
            case nil, .status: try? delete(copy.id)
            default: break
            }
            throw error
        }
        do { try put(new) } catch { throw .unfinished(.newIsNamed(copy.id), error) }
        do { try delete(copy.id) } catch { throw .unfinished(.copyRemains(copy.id), error) }
    }

    /// A name that is not in use.
    private static func spareName(
        _ name: String, like id: OATHAccountID, besides names: Set<[UInt8]>
    ) -> OATHAccountID {
        var spare = OATHAccountID(issuer: nil, name: name, period: id.period, type: id.type)
        var number = 2
        while names.contains(spare.rawName) {
            spare = OATHAccountID(issuer: nil, name: "\(name)-\(number)", period: id.period, type: id.type)
            number += 1
        }
        return spare
    }

    /// Removes all accounts and the password (RESET).
    public func reset() throws(OATHError) {
        try session.send(ResetOATHApplication())
        do { try session.startOver() } catch { throw .unfinished(.reset, error) }
    }

    /// Finds accounts whose names conflict with a new one (LIST).
    public func conflicts(with id: OATHAccountID) throws(OATHError) -> OATHNameConflicts {
        OATHNameConflicts(of: id, among: try accounts(), info: session.info)
    }

    private func check(_ id: OATHAccountID) throws(OATHError) {
        if id.name.isEmpty || id.issuer == nil && id.name.hasSuffix(":") { throw .emptyName }
        guard id.rawName.count <= OATHAccountID.byteLimit else { throw .nameTooLong(bytes: id.rawName.count) }
    }

    private func require(_ feature: OATHFeature) throws(OATHError) {
        if session.info.supports(feature) == false { throw .unsupported(feature, info: session.info) }
    }

    /// Calculates the codes of all accounts that need neither a touch nor a counter (CALCULATE ALL), and recalculates
    /// those whose period is not 30 seconds (CALCULATE). It never advances a counter and never waits for a touch.
    ///
    /// `time` is in seconds since 1970, by default now. An account whose own code fails carries its error. With
    /// `recalculating` off only CALCULATE ALL is sent, and accounts that need a separate command have no code.
    public func codes(at time: Int64? = nil, recalculating: Bool = true) throws(OATHError) -> [OATHEntry] {
        let time = time ?? now
        let step = TimeStep(of: time, period: OATHAccountID.usualPeriod)
        var entries: [OATHEntry] = []
        for row in try session.send(CalculateAll(challenge: step.challenge)) {
            entries.append(try entry(row, at: time, recalculating))
        }
        return entries
    }

    /// Calculates the code of one account (CALCULATE): advances a counter-based account, and waits for a touch if one
    /// is required.
    ///
    /// - Throws: `noSuchAccount`, `locked`, or `touchTimeout` if the key was not touched.
    public func code(for id: OATHAccountID, at time: Int64? = nil) throws(OATHError) -> OATHCode {
        let time = time ?? now
        let challenge = id.type == .totp ? TimeStep(of: time, period: id.period).challenge : []
        let command = Calculate(account: id.rawName, challenge: challenge, isTruncated: !id.isSteam)
        let response = try session.send(command)
        return OATHCode(text: response.text(for: id), id: id, at: time)
    }

    /// Returns the whole HMAC over the caller's challenge (CALCULATE, not truncated).
    public func response(for id: OATHAccountID, challenge: [UInt8]) throws(OATHError) -> [UInt8] {
        try session.send(Calculate(account: id.rawName, challenge: challenge, isTruncated: false)).bytes
    }

    /// Finds the time-based accounts whose memory the key can no longer read: CALCULATE fails five times.
    ///
    /// Accounts that require a touch wait for it.
    public func damagedAccounts() throws(OATHError) -> [OATHAccountID] {
        var damaged: [OATHAccountID] = []
        for account in try accounts() where account.type == .totp {
            if try isDamaged(account.id) { damaged.append(account.id) }
        }
        return damaged
    }

    private func isDamaged(_ id: OATHAccountID) throws(OATHError) -> Bool {
        for _ in 0..<5 {
            do {
                _ = try code(for: id)
                return false
            } catch .damaged {
                continue
            } catch .touchTimeout {
                return false
            }
        }
        return true
    }

    private func entry(
        _ row: CalculateAll.Row, at time: Int64, _ recalculating: Bool
    ) throws(OATHError) -> OATHEntry {
        switch row.answer {
        case .hotp(let digits):
            let id = OATHAccountID(rawName: row.name, type: .hotp)
            return OATHEntry(account: OATHAccount(id: id, digits: digits), outcome: .hotp)
        case .touch(let digits):
            let id = OATHAccountID(rawName: row.name)
            return OATHEntry(account: OATHAccount(id: id, needsTouch: true, digits: digits), outcome: .needsTouch)
        case .response(let response):
            let id = OATHAccountID(rawName: row.name)
            let account = OATHAccount(id: id, needsTouch: false, digits: response.digits)
            return OATHEntry(account: account, outcome: try outcome(response, for: id, at: time, recalculating))
        }
    }

    private func outcome(
        _ response: OATHResponse, for id: OATHAccountID, at time: Int64, _ recalculating: Bool
    ) throws(OATHError) -> OATHEntry.Outcome {
        let isUsable = id.period == OATHAccountID.usualPeriod && !(id.isSteam && response.mayBeReduced)
        if isUsable { return .code(OATHCode(text: response.text(for: id), id: id, at: time)) }
        guard recalculating else { return .separate }
        do { return .code(try code(for: id, at: time)) } catch {
            if error.endsSession { throw error }
            return .failed(error)
        }
    }
}

extension OATHResponse {
    /// The code in the format that the account's service expects.
    func text(for id: OATHAccountID) -> String { id.isSteam ? SteamGuard.code(number) : decimal }
}
