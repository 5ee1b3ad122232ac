// SPDX-License-Identifier: Apache-2.0

import YKTransport

extension OATHService {
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
