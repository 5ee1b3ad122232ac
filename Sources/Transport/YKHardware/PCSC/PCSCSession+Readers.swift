// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc

/// The service's view of a reader, with the state word that the next wait starts from.
struct ReaderSnapshot: Sendable, Hashable {
    var status: ReaderStatus
    /// State bits; the upper half counts card insertions and removals.
    var state: DWORD

    /// The number of card insertions and removals.
    var eventCount: DWORD { state >> 16 }
    /// Whether the service still knows the reader.
    var isKnown: Bool { state & DWORD(SCARD_STATE_UNKNOWN) == 0 }
}

/// A recent list of the readers. While it is valid, pcscd is not queried again: nobody exchanges a card that quickly.
struct ReaderListing {
    /// How long a list is valid.
    static let life = Duration.milliseconds(50)

    private let readers: [ReaderSnapshot]
    private let end: ContinuousClock.Instant

    init(_ readers: [ReaderSnapshot], at now: ContinuousClock.Instant = .now) {
        (self.readers, end) = (readers, now + Self.life)
    }

    /// The answer to reset of the card in a reader; `nil` when there is none, or the list is no longer valid.
    func atr(in reader: String, at now: ContinuousClock.Instant = .now) -> [UInt8]? {
        guard now < end else { return nil }
        let atr = readers.first { $0.status.name == reader }?.status.atr
        return atr?.isEmpty == false ? atr : nil
    }

    /// Whether a program was connected to the card in a reader when the readers were listed. Programs that share a card
    /// keep it open.
    func isInUse(_ reader: String) -> Bool { readers.contains { $0.status.name == reader && $0.status.isInUse } }
}

extension PCSCSession {
    /// The pseudo reader whose state changes when readers are added or removed.
    static let hotPlug = #"\\?PnP?\Notification"#

    /// The names of all readers.
    func readerNames() throws(PCSCFailure) -> [String] {
        try withContext { context throws(PCSCFailure) in
            // pcsc-lite 1 and 2 support 16 readers with names of 128 bytes.
            var room: DWORD = 16 * 128 + 1
            for _ in 0..<3 {
                var names = [CChar](repeating: 0, count: Int(min(room, 1 << 20)))
                var length = DWORD(names.count)
                let code = PCSCCode(library.listReaders(context, &names, &length))
                switch code {
                case .success: return names.prefix(Int(min(length, DWORD(names.count)))).strings
                case .noReaders: return []
                case .insufficientBuffer: room = max(length, room &* 2)
                default: throw PCSCFailure(code, .list)
                }
            }
            throw PCSCFailure(.insufficientBuffer, .list)
        }
    }

    /// All readers and their cards.
    func readers() throws(PCSCFailure) -> [ReaderSnapshot] {
        listing = nil
        let names = try readerNames()
        guard !names.isEmpty else { return [] }
        let nothing = names.map { ReaderSnapshot(status: .init(name: $0, hasCard: false), state: 0) }
        let found = try states(of: nothing, wait: 0).filter(\.isKnown)
        listing = ReaderListing(found)
        return found
    }

    /// Waits until the state of a reader differs from the given one, or, when `isHotPlugWatched`, readers are added or
    /// removed; returns the current states.
    func states(
        of readers: [ReaderSnapshot], wait milliseconds: DWORD, isHotPlugWatched: Bool = false
    ) throws(PCSCFailure) -> [ReaderSnapshot] {
        let context = try established()
        let names = readers.map(\.status.name) + (isHotPlugWatched ? [Self.hotPlug] : [])
        let strings = names.map { strdup($0) }
        defer { strings.forEach { free($0) } }
        var states = strings.enumerated().map { index, string in
            var state = SCARD_READERSTATE()
            state.szReader = UnsafePointer(string)
            state.dwCurrentState = index < readers.count ? readers[index].state : DWORD(readers.count) << 16
            return state
        }
        let code = PCSCCode(library.getStatusChange(context, milliseconds, &states, DWORD(states.count)))
        guard code == .success || code == .timeout else { throw PCSCFailure(code, .states) }
        return zip(readers, states).map { ReaderSnapshot($0.status.name, $1) }
    }
}

extension ReaderSnapshot {
    fileprivate init(_ name: String, _ raw: SCARD_READERSTATE) {
        func has(_ bit: Int32) -> Bool { raw.dwEventState & DWORD(bit) != 0 }
        let atr = withUnsafeBytes(of: raw.rgbAtr) { Array($0.prefix(Int(min(raw.cbAtr, DWORD($0.count))))) }
        status = ReaderStatus(
            name: name, hasCard: has(SCARD_STATE_PRESENT), atr: has(SCARD_STATE_PRESENT) ? atr : [],
            isInUse: has(SCARD_STATE_INUSE) || has(SCARD_STATE_EXCLUSIVE), isExclusive: has(SCARD_STATE_EXCLUSIVE),
            isMute: has(SCARD_STATE_MUTE))
        state = raw.dwEventState & ~DWORD(SCARD_STATE_CHANGED)
    }
}

extension ArraySlice<CChar> {
    /// The strings of a list in which each string, and the list, ends with a zero.
    fileprivate var strings: [String] {
        split(separator: 0).map { String(decoding: $0.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }
}
