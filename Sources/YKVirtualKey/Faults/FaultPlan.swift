// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// What goes wrong on the way to a key, and when: a list of rules, the first that fits an exchange counts.
public struct FaultPlan: Hashable, Sendable {
    /// What goes wrong.
    public enum Fault: Hashable, Sendable {
        /// The command arrives, its reply does not.
        case drop
        /// The reply comes this much later.
        case delay(Duration)
        /// Only the first bytes of the response arrive.
        case truncate(Int)
        /// These bytes arrive instead of the response.
        case garbage([UInt8])
        /// The command does not arrive; this status word answers.
        case status(StatusWord)
        /// The reply, and what is asked for after it, always announces more; with or without data.
        case endless(withData: Bool)
        /// The key is taken away before the command, and put back after a while or never.
        case remove(back: Duration?)
        /// The key is reset before the command.
        case reset
    }

    /// Which exchanges a fault happens to.
    public enum Trigger: Hashable, Sendable {
        /// The exchange with this number; the first is 1.
        case at(Int)
        /// The exchange with this number and all after it.
        case from(Int)
        /// Commands that start with these bytes: each, or the one with this number; the first is 1.
        case on([UInt8], number: Int?)
    }

    /// One fault and when it happens.
    public struct Rule: Hashable, Sendable {
        /// When it happens.
        public let trigger: Trigger
        /// What happens.
        public let fault: Fault
        private var matches = 0

        /// Makes a rule.
        public init(_ trigger: Trigger, _ fault: Fault) {
            self.trigger = trigger
            self.fault = fault
        }

        mutating func fits(_ command: [UInt8], exchange: Int) -> Bool {
            switch trigger {
            case .at(let number): return exchange == number
            case .from(let number): return exchange >= number
            case .on(let start, let number):
                guard command.starts(with: start) else { return false }
                matches += 1
                return number.map { $0 == matches } ?? true
            }
        }
    }

    /// The rules in order.
    public private(set) var rules: [Rule]
    private var exchanges = 0
    private var endless: Fault?

    /// Makes a plan; without rules nothing goes wrong.
    public init(_ rules: [Rule] = []) { self.rules = rules }

    /// The fault of the next exchange, if there is one.
    mutating func next(_ command: [UInt8]) -> Fault? {
        exchanges += 1
        if let endless, command.count > 1, [0xA5, 0xC0].contains(command[1]) { return endless }
        var found: Fault?
        for index in rules.indices where rules[index].fits(command, exchange: exchanges) {
            found = found ?? rules[index].fault
        }
        if case .endless = found { endless = found } else { endless = nil }
        return found
    }
}
