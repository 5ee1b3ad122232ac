// SPDX-License-Identifier: Apache-2.0

/// A comparison that shows whether a second key opens everything that a first one does.
public struct InventoryComparison: Hashable, Sendable {
    /// What the second key has for an item of the first.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// The same secret or private key.
        case same
        /// A separate credential for the same account, login, volume or file.
        case own
        /// An entry with the same name, whose secret could not be compared.
        case named
        /// An entry with the same name but a different secret.
        case different
        /// Nothing.
        case missing
        /// The second key's items of this kind were not read.
        case unknown

        /// Whether the second key can stand in for the first one.
        public var isCovered: Bool { self == .same || self == .own }

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// An item of the first key.
    public struct Row: Hashable, Sendable {
        /// The item.
        public let item: Inventory.Item
        /// What the second key has for it.
        public let verdict: Verdict
    }

    /// The first key's items in their order.
    public let rows: [Row]
    /// The second key's items that have no counterpart on the first key.
    public let additional: [Inventory.Item]
    /// The kinds of items that were not read from the first key, so that rows may be missing.
    public let unread: [Inventory.Gap]

    /// Whether everything was read, and the second key covers all of it.
    public var isCovered: Bool { unread.isEmpty && rows.allSatisfy(\.verdict.isCovered) }

    /// Compares the inventory of a second key with that of a first one.
    public init(of first: Inventory, with second: Inventory) {
        rows = first.items.map { Row(item: $0, verdict: Self.verdict($0, in: second)) }
        let unreadFirst = Set(first.gaps.map(\.kind))
        additional = second.items.filter { item in
            !unreadFirst.contains(item.kind) && Self.verdict(item, in: first) == .missing
        }
        unread = first.gaps
    }

    private static func verdict(_ item: Inventory.Item, in other: Inventory) -> Verdict {
        let found = other.items.compactMap { item.verdict(against: $0) }.min { $0.rank < $1.rank }
        return found ?? (other.gaps.contains { $0.kind == item.kind } ? .unknown : .missing)
    }
}

extension Inventory.Item {
    /// How an item of another key compares with this one; `nil` if it is unrelated.
    fileprivate func verdict(against other: Inventory.Item) -> InventoryComparison.Verdict? {
        guard kind == other.kind else { return nil }
        // The secret of an OATH account counts for its own account only: two accounts may share one by mistake.
        if kind != .oath, let mark, mark == other.mark { return .same }
        guard target == other.target else { return nil }
        guard kind == .oath else { return .own }
        guard let mark, let theirs = other.mark else { return .named }
        return mark == theirs ? .same : .different
    }
}
