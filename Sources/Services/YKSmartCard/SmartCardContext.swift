// SPDX-License-Identifier: Apache-2.0

public import YKHardware
public import YKTransport
import YKWire

/// A PC/SC context (PC/SC part 5 §3.2.2), for porting code that calls `SCardEstablishContext` or YubiKit's `YKFSCard…`.
///
/// Each function of winscard.h is a method of the same name without `SCard`; output parameters are returned, and a
/// return code other than success is thrown. A context and its cards may be used by one thread at a time; only
/// ``canceller`` may be used by another.
public final class SmartCardContext {
    /// Cancels ``getStatusChange(timeout:_:)`` from another thread (SCardCancel); from then on every waiting call
    /// throws `cancelled`, until ``resume()``.
    public private(set) var canceller = Cancellation()
    private let source: any SmartCardReaders
    private var isEstablished = true
    /// The number of insertions and removals of each queried reader.
    private var events: [String: (status: ReaderStatus?, count: UInt32)] = [:]

    /// The timeout of a call that does not wait for the user.
    static let patience = Duration.seconds(30)
    /// The name that stands for added and removed readers (PC/SC part 5 §3.2.2, as in Windows and pcsc-lite).
    public static let hotPlug = #"\\?PnP?\Notification"#

    /// Establishes a context, by default with the readers of the service (SCardEstablishContext).
    ///
    /// - Throws: `noService` if the service is unavailable.
    public init(_ source: any SmartCardReaders = ServiceReaders()) throws(SmartCardError) {
        self.source = source
        _ = try readers()
    }

    /// Releases the context (SCardReleaseContext); every later call throws `invalidHandle`.
    public func releaseContext() throws(SmartCardError) {
        try check()
        isEstablished = false
    }

    /// Whether the context is valid (SCardIsValidContext).
    public var isValidContext: Bool { isEstablished }

    /// Allows waiting again after a cancellation.
    public func resume() { canceller = Cancellation() }

    /// Lists the names of the readers (SCardListReaders).
    ///
    /// - Throws: `noReadersAvailable` if there is none.
    public func listReaders() throws(SmartCardError) -> [String] {
        try check()
        let names = try readers().map(\.name)
        guard !names.isEmpty else { throw .noReadersAvailable }
        return names
    }

    /// Connects to the card in a reader (SCardConnect).
    ///
    /// - Throws: `unknownReader`, `noSmartCard`, `sharingViolation`, `protocolMismatch` or `unresponsiveCard`.
    public func connect(
        reader: String, share: PCSC.Share = .shared, protocols: SmartCardProtocol = .any
    ) throws(SmartCardError) -> SmartCard {
        try check()
        let link = try lift(SmartCardError.init) { () throws(LinkError) in
            try source.connect(reader: reader, share: share, deadline: deadline())
        }
        guard let active = protocols.active(for: link.identity.atr) else {
            link.close()
            throw .protocolMismatch
        }
        return SmartCard(link, active, canceller)
    }

    /// Waits until a reader's state differs from its ``ReaderState/current``, and returns it (SCardGetStatusChange).
    /// Returns at once for a reader whose state is unknown (`current` is empty).
    ///
    /// - Throws: `timeout`, or `cancelled` if ``canceller`` was cancelled.
    public func getStatusChange(
        timeout: Duration, _ states: [ReaderState]
    ) throws(SmartCardError) -> [ReaderState] {
        try check()
        let deadline = Deadline.after(timeout, cancellation: canceller)
        var now = try readers()
        while true {
            let found = states.map { observe($0, now) }
            if found.contains(where: { $0.event.contains(.changed) }) { return found }
            now = try lift(SmartCardError.init) { () throws(LinkError) in
                try source.readers(otherThan: now, deadline: deadline)
            }
            // The service may return from a wait because the deadline has passed.
            try lift(SmartCardError.init) { () throws(LinkError) in try deadline.check("a change of the readers") }
        }
    }

    private func observe(_ state: ReaderState, _ now: [ReaderStatus]) -> ReaderState {
        var state = state
        guard !state.current.contains(.ignore) else {
            state.event = .ignore
            return state
        }
        if state.reader == Self.hotPlug {
            state.eventCount = UInt32(truncatingIfNeeded: now.count)
            state.event = state.currentCount == state.eventCount ? [] : .changed
            return state
        }
        let status = now.first { $0.name == state.reader }
        let known = events[state.reader]
        let isSame = known.map { $0.status?.hasCard == status?.hasCard && $0.status?.atr == status?.atr } ?? false
        let count = (known?.count ?? 0) &+ (known == nil || isSame ? 0 : 1)
        events[state.reader] = (status, count)
        state.eventCount = count
        state.atr = status?.atr ?? []
        state.event = ReaderState.Flags(status)
        let isKnown = state.current.subtracting(.changed) == state.event && state.currentCount == count
        if !isKnown { state.event.insert(.changed) }
        return state
    }

    private func readers() throws(SmartCardError) -> [ReaderStatus] {
        try lift(SmartCardError.init) { () throws(LinkError) in try source.readers(deadline: deadline()) }
    }

    private func deadline() -> Deadline { .after(Self.patience, cancellation: canceller) }

    private func check() throws(SmartCardError) {
        guard isEstablished else { throw .invalidHandle }
    }
}
