// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKHTTP
import YKTransport

/// Requests that were delivered or polled, on any thread, and wait to be reported.
public final class IncomingRequests: Sendable {
    /// Maximum number of waiting requests.
    public static let limit = 5000

    private struct State {
        var watch: RequestWatch
        var found: [RequestWatch.Found] = []
    }

    private let state: Mutex<State>

    /// Collects the requests of a watch.
    public init(_ watch: RequestWatch) { state = Mutex(State(watch: watch)) }

    /// The number of messages by outcome.
    public var counts: RequestWatch.Counts { state.withLock { $0.watch.counts } }

    /// Whether any requests are waiting.
    public var isWaiting: Bool { state.withLock { !$0.found.isEmpty } }

    /// Answers a delivery. If too many requests wait, the sender is told to try again.
    public func answer(_ request: IncomingRequest) -> HTTPResponse {
        guard request.method == .post else { return HTTPResponse(status: 405) }
        guard deliver(request.body) else { return HTTPResponse(status: 503, fields: [HTTPField("Retry-After", "1")]) }
        return HTTPResponse(status: 200)
    }

    /// Accepts the body of a delivered message.
    ///
    /// - Returns: `false` if too many requests wait.
    public func deliver(_ body: [UInt8]) -> Bool {
        state.withLock { state in
            guard state.found.count < Self.limit else { return false }
            if let found = state.watch.take(delivered: body) { state.found.append(found) }
            return true
        }
    }

    /// Accepts the result of a poll; requests beyond the limit are reported when they are polled again.
    public func take(_ poll: PushPoll, of account: PushAccount) {
        state.withLock { state in
            let found = state.watch.take(poll, of: account)
            let room = max(0, Self.limit - state.found.count)
            state.found += found.prefix(room)
            for left in found.dropFirst(room) { state.watch.forget(left) }
        }
    }

    /// Returns and removes the waiting requests.
    public func takeAll() -> [RequestWatch.Found] {
        state.withLock { state in
            defer { state.found = [] }
            return state.found
        }
    }
}
