// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKTransport
import YKWire

/// What happens to one exchange.
enum Cut: Hashable, Sendable {
    /// The key is unplugged before the command arrives.
    case removedBefore
    /// The key carries the command out, and is unplugged before it answers.
    case removedAfter
    /// The key carries the command out, and its answer comes too late.
    case timedOutAfter
    /// Another program resets the card before the command arrives.
    case reset
    /// The command does not arrive; this status word answers.
    case refused(UInt16)
    /// The command does not arrive; this CTAP status answers.
    case ctap(UInt8)

    /// What can happen to a smart card application.
    static let card: [Cut] = [
        .removedBefore, .removedAfter, .timedOutAfter, .reset, .refused(0x6A82), .refused(0x6982), .refused(0x6F00),
    ]
    /// What can happen to the FIDO application over a card.
    static let fido: [Cut] = [
        .removedBefore, .removedAfter, .timedOutAfter, .reset, .ctap(0x30), .ctap(0x33), .ctap(0x7F), .refused(0x6F00),
    ]
}

/// Counts the exchanges of an operation and cuts one of them.
final class CutLink: ForwardingCardLink {
    /// Which exchange is cut, and how many there were.
    final class Counter: Sendable {
        let cut: Cut?
        let number: Int
        private let state = Mutex((count: 0, commands: [[UInt8]]()))

        init(_ cut: Cut? = nil, at number: Int = 0) { (self.cut, self.number) = (cut, number) }
        var count: Int { state.withLock { $0.count } }
        /// The command that was cut, for the report.
        var command: String {
            state.withLock { state in
                state.commands.indices.contains(number - 1) ? Hex.encode(state.commands[number - 1].prefix(4)) : ""
            }
        }
        /// The numbers of the exchanges to cut: all, but of more than 16 in a row with the same instruction, such as the
        /// wrong attempts of a reset, only the first and the last four.
        var places: [Int] {
            state.withLock { state in
                var places: [Int] = []
                var start = 0
                while start < state.commands.count {
                    let end = state.commands[start...].firstIndex { $0.prefix(4) != state.commands[start].prefix(4) }
                    let row = start..<(end ?? state.commands.count)
                    places += row.count > 16 ? Array(row.prefix(4)) + Array(row.suffix(4)) : Array(row)
                    start = row.upperBound
                }
                return places.map { $0 + 1 }
            }
        }
        func next(_ command: [UInt8]) -> Cut? {
            state.withLock { state in
                state.count += 1
                state.commands.append(command)
                return state.count == number ? cut : nil
            }
        }
    }

    let link: any CardLink
    private let counter: Counter
    private var isRemoved = false
    private var isLost = false

    init(_ link: sending any CardLink, _ counter: Counter) { (self.link, self.counter) = (link, counter) }

    func exchange(_ command: [UInt8], deadline: Deadline) throws(LinkError) -> [UInt8] {
        if isRemoved { throw .removed }
        switch counter.next(command) {
        // "There is no such object" would be an answer, not a fault.
        case .refused(let word) where [0x6A82, 0x6A88].contains(word) && [0xCA, 0xCB].contains(command[1]):
            return try link.exchange(command, deadline: deadline)
        case nil: return try link.exchange(command, deadline: deadline)
        case .removedBefore: isRemoved = true
        case .removedAfter:
            _ = try link.exchange(command, deadline: deadline)
            isRemoved = true
        case .timedOutAfter:
            _ = try link.exchange(command, deadline: deadline)
            throw .timedOut("waiting for a reply")
        case .reset:
            try link.reset(.cold, deadline: deadline)
            isLost = true
            throw .reset
        case .refused(let status): return ResponseAPDU(StatusWord(status)).encoded
        case .ctap(let status): return [status] + ResponseAPDU(.ok).encoded
        }
        throw .removed
    }

    func begin(deadline: Deadline) throws(LinkError) -> Bool {
        if isRemoved { throw .removed }
        defer { isLost = false }
        return try link.begin(deadline: deadline) || isLost
    }

    func reset(_ kind: CardReset, deadline: Deadline) throws(LinkError) {
        if isRemoved { throw .removed }
        try link.reset(kind, deadline: deadline)
    }
}

/// Counts the feature reports of an operation and unplugs the key at one of them.
final class CutReportLink: ForwardingReportLink {
    /// When the key is unplugged.
    enum Cut: CaseIterable, Sendable {
        case removedBefore
        case removedAfter
    }

    /// Which report is cut, and how many there were.
    final class Counter: Sendable {
        let cut: Cut?
        let number: Int
        private let state = Mutex(0)

        init(_ cut: Cut?, at number: Int) { (self.cut, self.number) = (cut, number) }
        var count: Int { state.withLock { $0 } }
        func next() -> Cut? {
            state.withLock { count in
                count += 1
                return count == number ? cut : nil
            }
        }
    }

    let link: any ReportLink
    private let counter: Counter
    private var isRemoved = false

    init(_ link: sending any ReportLink, _ counter: Counter) { (self.link, self.counter) = (link, counter) }

    private func counted<Value>(_ body: () throws(LinkError) -> Value) throws(LinkError) -> Value {
        if isRemoved { throw .removed }
        let cut = counter.next()
        isRemoved = cut != nil
        if cut == .removedBefore { throw .removed }
        let value = try body()
        if cut == .removedAfter { throw .removed }
        return value
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        try counted { () throws(LinkError) in try link.setFeature(report, deadline: deadline) }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        try counted { () throws(LinkError) in try link.feature(deadline: deadline) }
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) { try link.write(report, deadline: deadline) }
}
