// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKWire

/// Brings together the requests that are delivered and those that are polled: each is told once, whichever way it comes.
///
/// A request that is delivered counts only when the server of an account signed it; the others are counted and forgotten.
public struct RequestWatch: Sendable {
    /// A request that was not told before.
    public struct Found: Hashable, Sendable {
        /// The request.
        public let request: PushRequest
        /// The account that it is for.
        public let account: PushAccount
        /// Whether it was fetched rather than delivered.
        public let isPolled: Bool
    }

    /// How many messages came, by what became of them.
    public struct Counts: Hashable, Sendable {
        /// New requests.
        public var told = 0
        /// Requests that had been told before, or were answered already.
        public var repeated = 0
        /// Messages that are not requests signed by the server of an account.
        public var unverified = 0
    }

    /// The accounts that are watched.
    public let accounts: [PushAccount]
    /// What came so far.
    public private(set) var counts = Counts()

    /// The most requests that are remembered; afterwards the oldest are forgotten.
    public static let memory = 20_000

    private var known: Set<String> = []
    /// What is known, in the order in which it came, from `first` on.
    private var order: [String] = []
    private var first = 0

    /// Watches accounts.
    ///
    /// - Parameter answered: Identifiers of accounts with the nonces of their requests that were answered before.
    public init(_ accounts: [PushAccount], answered: [(account: String, nonce: String)] = []) {
        self.accounts = accounts
        for entry in answered { remember(Self.key(entry.account, entry.nonce)) }
    }

    /// Takes the body of a delivered message: `{"to":ADDRESS,"push":REQUEST}` as privacyIDEA's HTTP gateway sends it, or
    /// the request itself.
    ///
    /// - Returns: The request when it is new; `nil` otherwise.
    public mutating func take(delivered body: [UInt8]) -> Found? {
        guard let message = try? JSON(parsing: body), let found = verified(message["push"] ?? message) else {
            counts.unverified += 1
            return nil
        }
        return fresh(found)
    }

    /// Takes what a poll of an account had.
    ///
    /// - Returns: The requests that are new, oldest first.
    public mutating func take(_ poll: PushPoll, of account: PushAccount) -> [Found] {
        counts.unverified += poll.faults.count
        return poll.requests.compactMap { fresh(Found(request: $0, account: account, isPolled: true)) }
    }

    /// Forgets a request that could not be told, so that it is when it comes again.
    public mutating func forget(_ found: Found) {
        guard known.remove(Self.key(found.account.account.id, found.request.nonce)) != nil else { return }
        counts.told -= 1
    }

    /// The request with the account whose server signed it.
    private func verified(_ challenge: JSON) -> Found? {
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
            // A poll gives an open request again and again; only a second delivery is worth counting.
            if !found.isPolled { counts.repeated += 1 }
            return nil
        }
        remember(key)
        counts.told += 1
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

/// How often an account is asked for its requests.
public struct PollSchedule: Hashable, Sendable {
    /// The time between two polls while the server answers.
    public let interval: Duration
    /// The longest time between two polls of a server that does not answer.
    public static let longest = Duration.seconds(300)
    /// By what part of it a time is changed at random, so that many computers do not ask at once.
    public static let spread = 0.2

    /// How often polls failed one after the other.
    public private(set) var failures = 0

    /// Asks at this interval.
    public init(every interval: Duration) { self.interval = interval }

    /// The time until the next poll after one that was answered.
    ///
    /// - Parameter chance: From 0 to 1, drawn at random.
    public mutating func afterSuccess(_ chance: Double) -> Duration {
        failures = 0
        return Self.spread(interval, chance)
    }

    /// The time until the next poll after one that failed: it doubles up to eight times the interval.
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
    /// What a poll of an account costs its owner.
    public enum PollCost: Hashable, Sendable {
        /// Nothing.
        case nothing
        /// A touch now and then: the key remembers one for 15 seconds.
        case someTouches
        /// A touch each time.
        case touch
    }

    /// What a poll costs, by the policy with which the account's key was made.
    public var pollCost: PollCost {
        guard case .piv(let place) = place else { return .nothing }
        return switch place.policies.touch {
        case .never, .usual: .nothing
        case .cached: .someTouches
        default: .touch
        }
    }
}
