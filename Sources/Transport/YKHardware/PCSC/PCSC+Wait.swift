// SPDX-License-Identifier: Apache-2.0

import CPCSC
public import YKTransport

extension PCSC {
    /// Waits until the readers or their cards differ from `known`, and lists them; returns at once if they already
    /// differ.
    ///
    /// - Throws: The failure of the service, `timedOut`, or `cancelled`.
    public static func readers(
        otherThan known: [ReaderStatus], deadline: Deadline
    ) throws(LinkError) -> [ReaderStatus] {
        try PCSCService.shared().readers(otherThan: known, deadline)
    }
}

extension PCSCService {
    /// The duration of one wait call to the service, in milliseconds; a change missed just before is noticed after it
    /// (``ReaderWatch``).
    private static let slice: Int32 = 500

    /// Waits for other readers, or for something else in them.
    func readers(otherThan known: [ReaderStatus], _ deadline: Deadline) throws(LinkError) -> [ReaderStatus] {
        let wait = ReaderWait(library)
        // The caller may have stopped waiting: then the call to the service ends as well.
        defer { wait.stop() }
        return try run("a change of the readers", deadline) { session throws(PCSCFailure) in
            var now = try session.readers()
            while now.map(\.status) == known, !deadline.isOver, !wait.isStopped {
                let slice = DWORD(deadline.milliseconds(limit: Self.slice))
                do throws(PCSCFailure) { _ = try wait.states(of: now, in: session, milliseconds: slice) } catch {
                    // The reader was removed before the wait began.
                    guard error.code.meansRemoved else { throw error }
                }
                now = try session.readers()
            }
            return now.map(\.status)
        }
    }
}
