// SPDX-License-Identifier: Apache-2.0

import YKPIV
import YKWire

/// Merges delivered and polled requests and reports each request once.
///
/// A delivered request is reported only if the server of an account signed it; other messages are counted and
/// discarded.
public struct RequestWatch: Sendable {
    /// A newly reported request.
    public struct Found: Hashable, Sendable {
        /// The request.
        public let request: PushRequest
        /// The account of the request.
        public let account: PushAccount
        /// Whether it was polled rather than delivered.
        public let isPolled: Bool
    }

    /// The number of received messages by outcome.
    public struct Counts: Hashable, Sendable {
        /// New requests.
        public var reported = 0
        /// Requests that were already reported or answered.
        public var repeated = 0
        /// Messages that are not requests signed by the server of an account.
        public var unverified = 0
    }

    /// The watched accounts.
    public let accounts: [PushAccount]
    /// The counts so far.
    public private(set) var counts = Counts()

    /// Maximum number of remembered requests; beyond it, the oldest are forgotten.
    public static let memory = 20_000

    private var known: Set<String> = []
    /// The known requests in order of arrival, starting at `first`.
    private var order: [String] = []
    private var first = 0

    /// Creates a watch for accounts.
    ///
    /// - Parameter answered: Account identifiers with the nonces of requests that were already answered.
    public init(_ accounts: [PushAccount], answered: [(account: String, nonce: String)] = []) {
        self.accounts = accounts
        for entry in answered { remember(Self.key(entry.account, entry.nonce)) }
    }

    /// Accepts the body of a delivered message: `{"to":ADDRESS,"push":REQUEST}` as sent by privacyIDEA's HTTP gateway,
    /// or the request itself.
    ///
    /// - Returns: The request if it is new; `nil` otherwise.
    public mutating func take(delivered body: [UInt8]) -> Found? {
        guard let message = try? JSONValue(parsing: body), let found = verified(message["push"] ?? message) else {
            counts.unverified += 1
            return nil
        }
        return fresh(found)
    }

    /// Accepts the result of a poll of an account.
    ///
    /// - Returns: The new requests, oldest first.
    public mutating func take(_ poll: PushPoll, of account: PushAccount) -> [Found] {
        counts.unverified += poll.faults.count
        return poll.requests.compactMap { fresh(Found(request: $0, account: account, isPolled: true)) }
    }

    /// Forgets a request that could not be reported, so that it is reported when it is received again.
    public mutating func forget(_ found: Found) {
        guard known.remove(Self.key(found.account.account.id, found.request.nonce)) != nil else { return }
        counts.reported -= 1
    }

    /// Returns the request and the account whose server signed it; `nil` if there is none.
    private func verified(_ challenge: JSONValue) -> Found? {
        guard let serial = challenge["serial"]?.string else { return nil }
        for account in accounts where account.account.serial == serial {
            if let request = try? PushRequest(challenge, of: account) {
                return Found(request: request, account: account, isPolled: false)
            }
        }
        return nil
    }

    private mutating func fresh(_ found: Found) -> Found? {
        let key = Self.key(found.account.account.id, found.request.nonce)
        guard !known.contains(key) else {
            // Polls repeat open requests, so only repeated deliveries are counted.
            if !found.isPolled { counts.repeated += 1 }
            return nil
        }
        remember(key)
        counts.reported += 1
        return found
    }

    private mutating func remember(_ key: String) {
        guard known.insert(key).inserted else { return }
        order.append(key)
        guard order.count - first > Self.memory else { return }
        known.remove(order[first])
        first += 1
        guard first > Self.memory else { return }
        order.removeFirst(first)
        first = 0
    }

    private static func key(_ account: String, _ nonce: String) -> String { "\(account) \(nonce)" }
}

/// The times between polls of an account.
public struct PollSchedule: Hashable, Sendable {
    /// The time between two polls while the server answers.
    public let interval: Duration
    /// The maximum time between two polls of a server that does not answer.
    public static let longest = Duration.seconds(300)
    /// The fraction by which each time is varied at random, to spread the polls of many computers.
    public static let spread = 0.2

    /// The number of consecutive failed polls.
    public private(set) var failures = 0

    /// Creates a schedule with this interval.
    public init(every interval: Duration) { self.interval = interval }

    /// Returns the time until the next poll after a successful one.
    ///
    /// - Parameter chance: A random number from 0 to 1.
    public mutating func afterSuccess(_ chance: Double) -> Duration {
        failures = 0
        return Self.spread(interval, chance)
    }

    /// Returns the time until the next poll after a failed one; it doubles up to eight times the interval.
    public mutating func afterFailure(_ chance: Double) -> Duration {
        failures = min(failures + 1, 3)
        return Self.spread(min(interval * (1 << failures), max(interval, Self.longest)), chance)
    }

    private static func spread(_ duration: Duration, _ chance: Double) -> Duration {
        let share = (2 * min(1, max(0, chance)) - 1) * spread * 1000
        return duration * (1000 + Int(share.rounded())) / 1000
    }
}

extension PushAccount {
    /// The user interaction that a poll of an account requires.
    public enum PollCost: Hashable, Sendable {
        /// None.
        case nothing
        /// An occasional touch: the key caches a touch for 15 seconds.
        case someTouches
        /// A touch for each poll.
        case touch
    }

    /// The user interaction that a poll requires under the touch policy of the account's key.
    public var pollCost: PollCost {
        guard case .piv(let place) = place else { return .nothing }
        return switch place.policies.touch {
        case .never, .default: .nothing
        case .cached: .someTouches
        default: .touch
        }
    }
}
