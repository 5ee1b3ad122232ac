// SPDX-License-Identifier: Apache-2.0

import CPCSC
public import YKTransport

extension PCSC {
    /// Waits until the readers, or what is in them, are no longer as `known`, and lists them; at once when they are
    /// not.
    ///
    /// Throws why the service cannot be used, `timedOut`, or `cancelled`.
    public static func readers(
        otherThan known: [ReaderStatus], deadline: Deadline
    ) throws(LinkError) -> [ReaderStatus] {
        try PCSCService.shared().readers(otherThan: known, deadline)
    }
}

extension PCSCService {
    /// How long one wait of the service lasts before it is asked anew, in milliseconds: a wait that was called off does
    /// not outlive it.
    private static let slice: Int32 = 500

    /// Waits for other readers, or for something else in them.
    func readers(otherThan known: [ReaderStatus], _ deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        try run("a change of the readers", deadline) { session throws(PCSCFailure) in
            var now = try session.readers()
            while now.map(\.status) == known, !deadline.isOver, !deadline.isCancelled {
                let wait = DWORD(deadline.milliseconds(limit: Self.slice))
                do throws(PCSCFailure) { _ = try session.states(of: now, wait: wait, isHotPlugWatched: true) } catch {
                    // The reader went away before the wait began.
                    guard error.code.meansRemoved else { throw error }
                }
                now = try session.readers()
            }
            return now.map(\.status)
        }
    }
}
