// SPDX-License-Identifier: Apache-2.0

import Synchronization
public import YKInteraction

/// Whether a card, or the key here, may be used for what a program requests.
public enum BridgeQuestion: Question, Hashable {
    /// A card in a reader of this machine, which by itself does not prove that a user is present.
    case card(Ceremony, reader: String)
    /// The key here, for a program at a far end, by its name as the user typed it.
    case remote(Ceremony, host: String)
    /// The key here, for a program of this machine: the names of those that may be asking.
    case local(Ceremony, programs: [String])

    /// Yes or no.
    public var way: Way<Void> { .agree(()) }
}

/// How the thread of a device asks, which never waits.
protocol BridgePerson: Sendable {
    /// Asks whether a card may be used; a pending question is replaced.
    ///
    /// - Parameter answer: Called once, on any thread, with whether the user agrees.
    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void)
    /// Withdraws the pending question, if any.
    func withdraw()
}

/// Asks a person in a task.
final class AskingTask: BridgePerson {
    private let person: any Person
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ person: any Person) { self.person = person }

    func ask(_ ceremony: Ceremony, reader: String, answer: @escaping @Sendable (Bool) -> Void) {
        let asking = Task { [person] in
            do throws(Declined) {
                try await person.answer(BridgeQuestion.card(ceremony, reader: reader))
                answer(!Task.isCancelled)
            } catch { answer(false) }
        }
        replace(asking)
    }

    func withdraw() { replace(nil) }

    private func replace(_ asking: Task<Void, Never>?) {
        let open = task.withLock { task in
            defer { task = asking }
            return task
        }
        open?.cancel()
    }
}
