// SPDX-License-Identifier: Apache-2.0

/// A comparison that shows whether a second key opens everything that a first one does.
public struct InventoryComparison: Hashable, Sendable {
    /// What the second key has for an item of the first.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// The same secret or private key.
        case same
        /// The same secret under another name.
        case renamed
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
        public var isCovered: Bool { self == .same || self == .renamed || self == .own }
        /// Whether it is known that the second key cannot stand in for the first one.
        public var isLacking: Bool { self == .different || self == .missing }

        fileprivate var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// An item of the first key.
    public struct Row: Hashable, Sendable {
        /// The item.
        public let item: Inventory.Item
        /// What the second key has for it.
        public let verdict: Verdict
        /// The item of the second key with the same secret under another name.
        public var counterpart: Inventory.Item?
    }

    /// The first key's items in their order.
    public let rows: [Row]
    /// The second key's items that have no counterpart on the first key.
    public let additional: [Inventory.Item]
    /// The kinds of items that were not read from the first key, so that rows may be missing.
    public let unread: [Inventory.Gap]
    /// The kinds of items that one of two saved inventories does not list, since its version of the library did not know
    /// them, or that this one does not know.
    public let unknownKinds: [String]

    /// Whether everything was read, and the second key covers all of it.
    public var isCovered: Bool {
        unread.isEmpty && unknownKinds.isEmpty && rows.allSatisfy(\.verdict.isCovered)
    }

    /// Compares the inventory of a second key with that of a first one.
    public init(of first: Inventory, with second: Inventory) {
        rows = first.items.map { Self.row($0, in: second) }
        let unreadFirst = Set(first.gaps.map(\.kind)).union(Set(Inventory.Kind.allCases).subtracting(first.kinds))
        additional = second.items.filter { item in
            !unreadFirst.contains(item.kind) && Self.row(item, in: first).verdict == .missing
        }
        unread = first.gaps
        let missing = Inventory.Kind.allCases.filter { !first.kinds.contains($0) || !second.kinds.contains($0) }
        unknownKinds = missing.map(\.rawValue) + first.otherKinds.union(second.otherKinds).sorted()
    }

    private static func row(_ item: Inventory.Item, in other: Inventory) -> Row {
        let found = other.items.compactMap { theirs in item.verdict(against: theirs).map { ($0, theirs) } }
        // What has the same name decides before what has only the same secret: two accounts may share one by mistake.
        let named = found.filter { $0.1.target == item.target }
        guard let best = (named.isEmpty ? found : named).min(by: { $0.0.rank < $1.0.rank }) else {
            let isUnread = other.gaps.contains { $0.kind == item.kind } || !other.kinds.contains(item.kind)
            return Row(item: item, verdict: isUnread ? .unknown : .missing)
        }
        return Row(item: item, verdict: best.0, counterpart: best.0 == .renamed ? best.1 : nil)
    }
}

extension Inventory.Item {
    /// How an item of another key compares with this one; `nil` if it is unrelated.
    fileprivate func verdict(against other: Inventory.Item) -> InventoryComparison.Verdict? {
        guard kind == other.kind else { return nil }
        if let mark, mark == other.mark { return target == other.target || !kind.isShared ? .same : .renamed }
        // A site may give each credential its own identifier of the account.
        if kind == .passkey, target != other.target {
            return relyingParty == other.relyingParty && name == other.name ? .named : nil
        }
        guard target == other.target else { return nil }
        guard kind.isShared else { return .own }
        return mark == nil || other.mark == nil ? .named : .different
    }
}
