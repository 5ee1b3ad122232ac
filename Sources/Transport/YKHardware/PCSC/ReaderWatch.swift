// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import Synchronization
public import YKTransport
public import YKWire

extension PCSCService {
    /// Reports readers and cards until the stream is no longer read.
    func watch() -> AsyncStream<ReaderEvent> {
        AsyncStream { stream in
            let watch = ReaderWatch(self, stream)
            stream.onTermination = { _ in watch.stop() }
            if !SystemThread.start({ watch.run() }) {
                stream.yield(.interrupted(.failed(code: 0, "no thread for the watch on readers")))
                stream.finish()
            }
        }
    }
}

/// Waits for readers and cards on its own thread and reports them to a stream.
final class ReaderWatch: Sendable {
    /// The maximum wait before the readers are listed again: pcsc-lite 1.9.9 compares the number of readers with that
    /// at the start of the wait, so it misses a reader added just before.
    private static let round: DWORD = 5000
    /// The retry interval while the service is unavailable.
    private static let pause: Int32 = 500

    private let service: PCSCService
    private let stream: AsyncStream<ReaderEvent>.Continuation
    private let wait: ReaderWait
    private let wake = Semaphore()

    init(_ service: PCSCService, _ stream: AsyncStream<ReaderEvent>.Continuation) {
        self.service = service
        self.stream = stream
        wait = ReaderWait(service.library)
    }

    /// Stops the watch.
    func stop() {
        wait.stop()
        wake.post()
    }

    func run() {
        let session = PCSCSession(library: service.library)
        var known: [ReaderSnapshot] = []
        var isFirst = true
        var trouble: LinkError?
        while !wait.isStopped {
            do throws(PCSCFailure) {
                known = tell(of: try session.readers(), after: known)
                if isFirst { stream.yield(.enumerated) }
                isFirst = false
                trouble = nil
                guard let now = try wait.states(of: known, in: session, milliseconds: Self.round) else { continue }
                known = tell(of: now.filter(\.isKnown), after: known)
            } catch {
                session.forget()
                known = tell(of: [], after: known)
                let why = service.explain(error)
                if why != trouble { stream.yield(.interrupted(why)) }
                trouble = why
                _ = wake.wait(milliseconds: Self.pause)
            }
        }
        session.forget()
        stream.finish()
    }

    /// Reports the differences and returns the new state.
    private func tell(of now: [ReaderSnapshot], after known: [ReaderSnapshot]) -> [ReaderSnapshot] {
        for old in known where !now.contains(where: { $0.status.name == old.status.name }) {
            stream.yield(.removed(old.status.name))
        }
        for new in now {
            guard let old = known.first(where: { $0.status.name == new.status.name }) else {
                stream.yield(.added(new.status))
                continue
            }
            if new.isAnotherCard(than: old) { stream.yield(.changed(new.status)) }
        }
        return now
    }
}

extension ReaderSnapshot {
    /// Whether a card was inserted, removed or replaced; programs connecting to it do not count.
    fileprivate func isAnotherCard(than old: ReaderSnapshot) -> Bool {
        eventCount != old.eventCount || status.hasCard != old.status.hasCard || status.atr != old.status.atr
            || status.isMute != old.status.isMute
    }
}

/// The waits of one session for readers and cards, which another thread can end.
final class ReaderWait: Sendable {
    private struct State {
        var isStopped = false
        /// The context in which a wait has begun, or is about to.
        var context: SCARDCONTEXT?
    }

    private let library: PCSCLibrary
    private let state = Mutex(State())

    init(_ library: PCSCLibrary) { self.library = library }

    /// Whether no further wait begins.
    var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Waits until readers or their cards differ from the given ones; returns their states, or `nil` when the wait was
    /// stopped.
    func states(
        of readers: [ReaderSnapshot], in session: PCSCSession, milliseconds: DWORD
    ) throws(PCSCFailure) -> [ReaderSnapshot]? {
        let context = try session.established()
        let isAllowed = state.withLock { state in
            if !state.isStopped { state.context = context }
            return !state.isStopped
        }
        guard isAllowed else { return nil }
        defer { state.withLock { $0.context = nil } }
        do { return try session.states(of: readers, wait: milliseconds, isHotPlugWatched: true) } catch {
            guard error.code == .cancelled else { throw error }
            return nil
        }
    }

    /// Ends the wait and prevents further ones. The cancellation is repeated, because one that comes before the wait
    /// begins is lost.
    func stop() {
        let isWaiting = state.withLock { state in
            state.isStopped = true
            return state.context != nil
        }
        guard isWaiting else { return }
        _ = SystemThread.start { [self] in
            for _ in 0..<200 {
                guard let context = state.withLock({ $0.context }) else { return }
                _ = library.cancel(context)
                usleep(10_000)
            }
        }
    }
}

/// A reader and its card.
public struct ReaderStatus: Sendable, Hashable {
    /// The name assigned by pcscd; changes when readers are plugged in in another order.
    public var name: String
    /// Whether a card is present.
    public var hasCard: Bool
    /// The answer to reset of the card; empty when there is no card or it is mute.
    public var atr: [UInt8]
    /// Whether a program is connected to the card.
    public var isInUse: Bool
    /// Whether a program has exclusive use of the card.
    public var isExclusive: Bool
    /// Whether a card is present that does not respond when powered.
    public var isMute: Bool

    /// Creates a status.
    public init(
        name: String, hasCard: Bool, atr: [UInt8] = [], isInUse: Bool = false, isExclusive: Bool = false,
        isMute: Bool = false
    ) {
        self.name = name
        self.hasCard = hasCard
        self.atr = atr
        self.isInUse = isInUse
        self.isExclusive = isExclusive
        self.isMute = isMute
    }

    /// The card on a contactless reader, according to its answer to reset; `nil` for a card with contacts.
    public var contactless: ContactlessCard? { (try? ATR(decoding: atr))?.contactless }
}

/// A change of a reader.
public enum ReaderEvent: Sendable, Hashable {
    /// A reader was added.
    case added(ReaderStatus)
    /// A card was inserted, removed or replaced.
    case changed(ReaderStatus)
    /// The reader of this name was removed.
    case removed(String)
    /// All readers that were present at the start have been reported.
    case enumerated
    /// The service is currently unavailable.
    case interrupted(LinkError)
}
