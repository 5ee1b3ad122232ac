// SPDX-License-Identifier: Apache-2.0

public import YKHTTP
import YKTransport
public import YKWire

/// The open requests of an account.
public struct PushPoll: Hashable, Sendable {
    /// The requests that the enrolled server signed, oldest first.
    public let requests: [PushRequest]
    /// Why the others are not shown.
    public let faults: [PushRequestFault]
    /// How much this clock is behind the server's, negative if it is ahead, in whole seconds; `nil` if it is within 20
    /// seconds.
    public let clockBehind: Duration?
}

/// The result of an answer.
public struct PushReceipt: Hashable, Sendable {
    /// Whether the server accepted it. The server gives no reason for a refusal.
    public let isAccepted: Bool
    /// The code that the user must type into the login page, if the server requires one.
    public let displayCode: String?
    /// The server's message for the user, which says where to enter the code.
    public let message: String?
    /// The text that was signed.
    public let signedText: String
    /// The signature as sent.
    public let signature: String
}

/// The likely cause of a refusal; the server reports none.
public enum PushRefusal: Hashable, Sendable {
    /// The request is closed: it expired, or was already answered, perhaps by another device.
    case closed
    /// The request is still open and requires a number: the number was wrong.
    case wrongNumber
    /// The request is still open for no known reason.
    case stillOpen
    /// The server did not report whether the request is open.
    case unknown
}

extension Approver {
    /// Fetches the open requests of an account. Requires a signature of its key, and a second one, with the
    /// server's time, if this clock is wrong by more than 20 seconds. The server's time is used for nothing else.
    ///
    /// - Throws: `clock`, `pollRefused`, `server`, or the error of the key.
    public func requests(of account: PushAccount, _ key: some ApprovalKey) async throws -> PushPoll {
        let now = environment.clock.now
        let url = try address(of: account)
        func ask(_ time: Int64) async throws -> Exchange<PushRequests> {
            let timestamp = UTCDate.timestamp(time)
            let signature = try await key.signed(PushText.poll(serial: account.account.serial, timestamp: timestamp))
            return try await poll(account, url, timestamp, signature)
        }
        var exchange = try await ask(now)
        let offset = exchange.offset.flatMap { $0.magnitude > UInt64(Self.tolerance) ? $0 : nil }
        if let offset, exchange.content == .success(.refused) {
            exchange = try await ask(environment.clock.now + offset)
            if exchange.content == .success(.refused) { throw ApprovalError.clock(behind: .seconds(offset)) }
        }
        return try Self.poll(exchange.content, account, offset)
    }

    /// Polls with an existing signature.
    func poll(
        _ account: PushAccount, _ timestamp: String, _ signature: [UInt8]
    ) async throws(ApprovalError) -> PushPoll {
        let exchange = try await poll(account, try address(of: account), timestamp, signature)
        return try Self.poll(exchange.content, account, nil)
    }

    private func poll(
        _ account: PushAccount, _ url: HTTPURL, _ timestamp: String, _ signature: [UInt8]
    ) async throws(ApprovalError) -> Exchange<PushRequests> {
        try await exchange(url, account.trust) { server throws(ServerError) in
            try await server.openRequests(
                of: account.account.serial, timestamp: timestamp, signature: PushText.encoded(signature))
        }
    }

    private static func poll(
        _ content: Result<PushRequests, ServerError>, _ account: PushAccount, _ offset: Int64?
    ) throws(ApprovalError) -> PushPoll {
        let answer: PushRequests
        do { answer = try content.get() } catch { throw .server(error) }
        guard case .open(let entries) = answer else { throw .pollRefused }
        var requests: [PushRequest] = []
        var faults: [PushRequestFault] = []
        for entry in entries.prefix(PushRequest.limit) {
            do throws(PushRequestFault) {
                let request = try PushRequest(entry, of: account)
                if !requests.contains(where: { $0.nonce == request.nonce }) { requests.append(request) }
            } catch { faults.append(error) }
        }
        return PushPoll(requests: requests, faults: faults, clockBehind: offset.map { .seconds($0) })
    }

    /// Approves a request that was shown.
    ///
    /// - Parameter number: The number on the login page, if the request offers some.
    /// - Throws: `numberNeeded` or `numberNotOffered` before anything is signed; `server`; `noReceipt` if the server
    ///   may have received the answer; or the error of the key.
    public func approve(
        _ request: PushRequest, number: String? = nil, _ account: PushAccount, _ key: some ApprovalKey
    ) async throws -> PushReceipt {
        if let numbers = request.numbers {
            guard let number else { throw ApprovalError.numberNeeded(numbers) }
            guard numbers.contains(number) else { throw ApprovalError.numberNotOffered(number, offered: numbers) }
        } else if let number {
            throw ApprovalError.numberNotOffered(number, offered: [])
        }
        let text = PushText.approval(of: request.nonce, serial: request.serial, number: number)
        return try await answer(request, text, isApproved: true, number: number, account, key)
    }

    /// Declines a request. The reason is sent if the server accepts one.
    ///
    /// - Throws: `server`; `noReceipt` if the server may have received the answer; or the error of the key.
    public func decline(
        _ request: PushRequest, _ reason: DeclineReason? = nil, _ account: PushAccount, _ key: some ApprovalKey
    ) async throws -> PushReceipt {
        let reason = request.takesReason ? reason : nil
        let text = PushText.decline(of: request.nonce, serial: request.serial, reason)
        return try await answer(request, text, isApproved: false, reason: reason, account, key)
    }

    private func answer(
        _ request: PushRequest, _ text: String, isApproved: Bool, number: String? = nil, reason: DeclineReason? = nil,
        _ account: PushAccount, _ key: some ApprovalKey
    ) async throws -> PushReceipt {
        let url = try address(of: account)
        let signature = PushText.encoded(try await key.signed(text))
        let answer = PushAnswer(
            serial: request.serial, nonce: request.nonce, signature: signature, isApproved: isApproved, number: number,
            reason: reason)
        let confirmation: PushConfirmation
        do { confirmation = try await server(url, account.trust).answer(answer) } catch {
            switch error {
            case .refused, .random, .http(.unreachable), .http(.certificate), .http(.pin), .http(.notInstalled):
                throw ApprovalError.server(error)
            default: throw ApprovalError.noReceipt(error, signedText: text, signature: signature)
            }
        }
        return PushReceipt(
            isAccepted: confirmation.isAccepted, displayCode: confirmation.displayCode,
            message: confirmation.message, signedText: text, signature: signature)
    }

    /// Polls once more after a refused answer, to determine the likely cause.
    ///
    /// - Parameter hadNumber: Whether the answer had a number.
    public func cause(
        ofRefusing request: PushRequest, hadNumber: Bool, _ account: PushAccount, _ key: some ApprovalKey
    ) async -> PushRefusal {
        guard let poll = try? await requests(of: account, key) else { return .unknown }
        guard poll.requests.contains(where: { $0.nonce == request.nonce }) else { return .closed }
        return hadNumber ? .wrongNumber : .stillOpen
    }

    /// Sets another delivery address for requests; store the account with it afterwards.
    ///
    /// - Parameter address: An address for the server's gateway: a topic or a URL, without `|` and control characters.
    /// - Throws: `malformed`, `pollRefused` if the server refuses the signature, `server`, or the error of the key.
    public func setAddress(
        _ address: String, _ account: PushAccount, _ key: some ApprovalKey
    ) async throws -> PushAccount {
        guard !address.isEmpty, address.utf8.count <= 512,
            !address.unicodeScalars.contains(where: { $0 == "|" || $0.isHazardous })
        else { throw ApprovalError.malformed("an address has up to 512 bytes, without '|' and control characters") }
        let timestamp = UTCDate.timestamp(environment.clock.now)
        let text = PushText.address(address, serial: account.account.serial, timestamp: timestamp)
        let signature = PushText.encoded(try await key.signed(text))
        let isAccepted: Bool
        do {
            isAccepted = try await server(try self.address(of: account), account.trust).setAddress(
                address, of: account.account.serial, timestamp: timestamp, signature: signature)
        } catch let error as ServerError { throw ApprovalError.server(error) }
        guard isAccepted else { throw ApprovalError.pollRefused }
        var changed = account
        changed.address = address
        return changed
    }

    /// Deletes an account's token on the server, on behalf of the signed-in user.
    ///
    /// - Throws: `server`.
    public func deleteToken(
        _ serial: String, _ session: any ApprovalServerSession
    ) async throws(ApprovalError) {
        do { try await session.deleteToken(serial) } catch { throw .server(error) }
    }

    /// Returns the server's log of an account, newest first, as far as the signed-in user may see it.
    ///
    /// - Parameter limit: The maximum number of entries.
    /// - Throws: `server`.
    public func log(
        of serial: String, limit: Int, _ session: any ApprovalServerSession
    ) async throws(ApprovalError) -> [JSONValue] {
        do { return try await session.log(of: serial, limit: limit) } catch { throw .server(error) }
    }

    /// Yields each new request of an account once, until the reading task is cancelled or a poll fails.
    ///
    /// - Parameter interval: The time between two polls. Each poll requires a signature of the account's key.
    public func requests(
        of account: PushAccount, _ key: some ApprovalKey & Sendable, every interval: Duration
    ) -> AsyncThrowingStream<PushRequest, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                var known: Set<String> = []
                do {
                    while true {
                        let open = try await requests(of: account, key).requests
                        for request in open where !known.contains(request.nonce) { continuation.yield(request) }
                        known = Set(open.map(\.nonce))
                        try await Task.sleep(for: interval)
                    }
                } catch { continuation.finish(throwing: error is CancellationError ? nil : error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}

extension PushRequest {
    /// Checks an entry of a poll or a delivered message for an account.
    ///
    /// - Throws: ``PushRequestFault``.
    public init(_ challenge: JSONValue, of account: PushAccount) throws(PushRequestFault) {
        try self.init(challenge, serial: account.account.serial, url: account.url, key: account.serverKey)
    }
}

extension PushAccount {
    /// The server's URL without the path of its interface, for signing in.
    public var base: HTTPURL? {
        let parts = url.split(separator: "/ttype/", maxSplits: 1)
        return parts.first.flatMap { try? HTTPURL(String($0)) }
    }
}
