// SPDX-License-Identifier: Apache-2.0

/// A value of a set that others extend, such as the codes of a protocol or the words of a server: any raw value can be held,
/// and the known ones have names.
///
/// A value is described by its word, number or bytes unless the type says more.
public protocol OpenSet: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue: Hashable & Sendable {
    /// Wraps a raw value, known or not.
    init(rawValue: RawValue)
}

extension OpenSet {
    /// Wraps a raw value, known or not.
    @inlinable
    public init(_ rawValue: RawValue) { self.init(rawValue: rawValue) }
}

extension OpenSet where RawValue == String {
    /// The word.
    public var description: String { rawValue }
}

extension OpenSet where RawValue: FixedWidthInteger {
    /// The number.
    public var description: String { String(rawValue) }
}

extension OpenSet where RawValue == [UInt8] {
    /// The bytes in hexadecimal.
    public var description: String { Hex.encode(rawValue) }
}

/// An entry that a person names on a line: an account, a credential, a token.
///
/// Lists of such entries are searched by ``WholeMatch`` and ``PartMatch`` and by nothing else. Each test list is in
/// order of preference: the first test that any entry passes decides.
package protocol NamedEntry {
    /// The tests that only a whole name or identifier passes.
    static func wholeTests(_ name: String) -> [(Self) -> Bool]
    /// The tests that a part of a name or identifier passes.
    static func partTests(_ part: String) -> [(Self) -> Bool]
}

extension NamedEntry {
    fileprivate static func first(_ tests: [(Self) -> Bool], in all: [Self]) -> [Self] {
        tests.lazy.map { all.filter($0) }.first { !$0.isEmpty } ?? []
    }
}

/// The entries with a name or identifier: those that may be deleted, renamed or overwritten without a question.
package struct WholeMatch<Entry: NamedEntry> {
    /// All that match equally well, in their original order.
    package let all: [Entry]

    /// Finds the entries for a whole name or identifier; an empty one matches nothing.
    package init(_ name: String, in entries: [Entry]) {
        all = name.isEmpty ? [] : Entry.first(Entry.wholeTests(name), in: entries)
    }
}

extension WholeMatch: Sendable where Entry: Sendable {}

/// The entries for a name or a part of one: for reading, and for a question that names the entry.
package struct PartMatch<Entry: NamedEntry> {
    /// All that match equally well, in their original order.
    package let all: [Entry]

    /// Finds the entries for a whole name or identifier or, if there are none, for a part of one; an empty text matches
    /// nothing.
    ///
    /// - Parameter isListed: Whether an entry can be found by a part.
    package init(_ text: String, in entries: [Entry], isListed: (Entry) -> Bool = { _ in true }) {
        let whole = WholeMatch(text, in: entries).all
        guard whole.isEmpty, !text.isEmpty else {
            all = whole
            return
        }
        all = Entry.first(Entry.partTests(text), in: entries.filter(isListed))
    }
}

extension PartMatch: Sendable where Entry: Sendable {}
