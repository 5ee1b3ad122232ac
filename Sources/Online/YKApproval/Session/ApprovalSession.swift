// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKProtocols
import YKTransport

/// An open request, and the account that it is for.
public struct OpenRequest: Hashable, Sendable {
    /// The request.
    public let request: PushRequest
    /// The account.
    public let account: PushAccount
    /// When this computer first saw it, in seconds since 1970.
    public let seen: Int64
    /// Whether it was polled rather than delivered.
    public let isPolled: Bool

    /// Describes an open request.
    public init(request: PushRequest, account: PushAccount, seen: Int64, isPolled: Bool) {
        (self.request, self.account, self.seen, self.isPolled) = (request, account, seen, isPolled)
    }
}

/// The keys of accounts, including the dialog that asks for a PIN or a touch.
public protocol ApprovalKeyring {
    /// The key of an account.
    associatedtype Key: ApprovalKey
    /// Returns the key of an account, after checking that it is the enrolled one.
    func key(of account: PushAccount) async throws -> Key
    /// Has the user prove their presence before a request is approved.
    func prove(_ proof: UserProof, for open: OpenRequest) async throws
}

/// The history of answers.
public protocol ApprovalLog {
    /// Reads the history.
    func read() throws -> ApprovalHistory
    /// Appends an answer.
    func append(_ event: ApprovalEvent) throws
}

/// A notice that a session reports while it works.
public enum ApprovalNews {
    /// This clock is behind the server's, or ahead of it if negative.
    case clock(behind: Duration)
    /// The server of an account sent something that is not a request of that server; it is not shown.
    case unverified(PushRequestFault, PushAccount)
    /// An account could not be polled, while others could.
    case notAsked(PushAccount, any Error)
    /// A request was answered on this computer before; it is not shown.
    case answered(PushRequest)
    /// An answer could not be added to the history.
    case notRecorded(any Error)
}

/// Fetches the open requests of accounts, answers them, and keeps the history of answers.
public struct ApprovalSession<Keys: ApprovalKeyring> {
    /// The accounts.
    public let accounts: AccountStore
    /// Their keys.
    public let keys: Keys
    /// The approver that talks to their servers.
    public let approver: Approver
    /// The history as it was at the start.
    public let history: ApprovalHistory
    /// The requests that were open when they were last fetched.
    public private(set) var open: [OpenRequest] = []

    private let log: any ApprovalLog
    private let report: (ApprovalNews) -> Void

    /// Starts a session.
    ///
    /// - Parameter report: Called with what the user should know while the session works.
    /// - Throws: The errors of the log.
    public init(
        _ accounts: AccountStore, _ keys: Keys, _ approver: Approver, _ log: any ApprovalLog,
        report: @escaping (ApprovalNews) -> Void
    ) throws {
        (self.accounts, self.keys, self.approver) = (accounts, keys, approver)
        (self.log, self.report) = (log, report)
        history = try log.read()
    }

    /// The time, in seconds since 1970.
    public var now: Int64 { approver.environment.clock.now }

    // MARK: fetching

    /// Polls accounts for open requests, and leaves out those that were answered on this computer. An account that
    /// cannot be polled is reported, unless it is the only one or all of them fail.
    ///
    /// - Parameters:
    ///   - asked: The accounts; each poll requires a signature.
    ///   - isFinal: Whether an error ends the session, as an interruption does. A PIN that the key refused always does,
    ///     since another poll would use up a try.
    /// - Throws: The first error if no account could be polled.
    public mutating func fetch(_ asked: [PushAccount], isFinal: (any Error) -> Bool = { _ in false }) async throws {
        var found: [(request: PushRequest, account: PushAccount)] = []
        var failures: [(account: PushAccount, cause: any Error)] = []
        for account in asked {
            do {
                let poll = try await approver.requests(of: account, try await keys.key(of: account))
                tell(poll, account)
                try accounts.mark(account.account, isGone: false, at: now)
                found += poll.requests.map { ($0, account) }
            } catch {
                if case .pollRefused? = error as? ApprovalError {
                    try accounts.mark(account.account, isGone: true, at: now)
                }
                if asked.count == 1 || isFinal(error) { throw error }
                if RefusedCredential(causing: error) != nil { throw error }
                failures.append((account, error))
            }
        }
        if let first = failures.first, failures.count == asked.count { throw first.cause }
        for failure in failures { report(.notAsked(failure.account, failure.cause)) }
        found = found.filter { request, account in
            let isAnswered = history.isAnswered(request.nonce, account: account.account.id)
            if isAnswered { report(.answered(request)) }
            return !isAnswered
        }
        let times = try accounts.firstSeen(found.map(\.request.nonce), at: now)
        open = found.map { request, account in
            OpenRequest(request: request, account: account, seen: times[request.nonce] ?? now, isPolled: true)
        }
    }

    private func tell(_ poll: PushPoll, _ account: PushAccount) {
        if let duration = poll.clockBehind { report(.clock(behind: duration)) }
        for fault in poll.faults { report(.unverified(fault, account)) }
    }

    /// Returns the open requests whose identifier begins with this text, or all without a text.
    ///
    /// - Throws: `alreadyAnswered`, or `noRequest`.
    public func requests(_ id: String?) throws(ApprovalError) -> [OpenRequest] {
        let id = id?.uppercased()
        let found = id.map { id in open.filter { $0.request.nonce.hasPrefix(id) } } ?? open
        guard found.isEmpty else { return found }
        if let id, history.events.contains(where: { $0.nonce?.hasPrefix(id) == true }) { throw .alreadyAnswered }
        throw .noRequest(id)
    }

    // MARK: answering

    /// Approves a request that was shown, after the account's proof if it requires one.
    ///
    /// - Parameter number: The number on the login page, if the request offers some.
    /// - Throws: The errors of ``Approver/approve(_:number:_:_:)`` and of the keys.
    public func approve(_ open: OpenRequest, number: String? = nil) async throws -> PushReceipt {
        if let proof = open.account.proof { try await keys.prove(proof, for: open) }
        return try await answer(open, "approved") { key in
            try await approver.approve(open.request, number: number, open.account, key)
        }
    }

    /// Declines a request.
    ///
    /// - Parameters:
    ///   - reason: Sent if the server accepts one.
    ///   - decision: The word for the history.
    /// - Throws: The errors of ``Approver/decline(_:_:_:_:)`` and of the keys.
    public func decline(
        _ open: OpenRequest, _ reason: DeclineReason? = nil, as decision: String = "declined"
    ) async throws -> PushReceipt {
        try await answer(open, decision) { key in
            try await approver.decline(open.request, reason, open.account, key)
        }
    }

    /// Answers a request, and adds what was signed to the history whether or not the server accepts it.
    private func answer(
        _ open: OpenRequest, _ decision: String, _ body: (Keys.Key) async throws -> PushReceipt
    ) async throws -> PushReceipt {
        let key = try await keys.key(of: open.account)
        do {
            let receipt = try await body(key)
            keep(open, decision, receipt.isAccepted, receipt.signedText, receipt.signature)
            return receipt
        } catch let error as ApprovalError {
            if case .noReceipt(_, let text, let signature) = error { keep(open, decision, nil, text, signature) }
            throw error
        }
    }

    private func keep(
        _ open: OpenRequest, _ decision: String, _ isAccepted: Bool?, _ text: String, _ signature: String
    ) {
        let event = ApprovalEvent(
            time: now, account: open.account.account.id, decision: decision, isAccepted: isAccepted,
            challenge: open.request.challenge, signedText: text, signature: signature)
        do { try log.append(event) } catch { report(.notRecorded(error)) }
    }

    /// Returns why the server did not accept an answer. The server gives no reason, so this fetches the open requests
    /// again, unless the key requires a touch each time.
    ///
    /// - Parameter hadNumber: Whether the answer had a number.
    public func cause(ofRefusing open: OpenRequest, hadNumber: Bool) async throws -> PushRefusal {
        if case .piv(let place) = open.account.place, place.policies.touch == .always { return .unknown }
        return await approver.cause(
            ofRefusing: open.request, hadNumber: hadNumber, open.account, try await keys.key(of: open.account))
    }
}
