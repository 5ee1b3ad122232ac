// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

/// Waits until a card is held to a reader.
enum CardArrival {
    /// Waits for a card on the reader of this name or part of a name, or on any. Throws `timedOut` and `cancelled`.
    static func wait(named name: String?, _ deadline: Deadline) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for await event in PCSC.watch() where try shows(event, name) { return }
                try deadline.check("waiting for a card")
                throw LinkError.noReader
            }
            group.addTask {
                while true {
                    try deadline.check("waiting for a card")
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Whether a card is on the reader of this name or part of a name, or on any; throws when there is no such reader.
    static func isThere(_ readers: [ReaderStatus], named name: String?) throws(LinkError) -> Bool {
        do { return try !ReaderSelection.candidates(readers, named: name).isEmpty } catch .noCard { return false }
    }

    private static func shows(_ event: ReaderEvent, _ name: String?) throws -> Bool {
        switch event {
        case .added(let reader), .changed(let reader): (try? isThere([reader], named: name)) ?? false
        case .interrupted(let error): throw error
        default: false
        }
    }
}
