// SPDX-License-Identifier: Apache-2.0

import CPCSC
import Glibc
import Synchronization
import YKTransport

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
