// SPDX-License-Identifier: Apache-2.0

import CPCSC
import YKTransport

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
