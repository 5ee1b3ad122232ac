// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs
import YKKeys
import YKTransport
import YKWire

/// A key or reader that appeared, changed or disappeared.
struct WatchedKey: Report {
    let key: AttachedKey
    let event: String

    static let members: [Member<WatchedKey>] = [
        Member("devices", "the one that the event is about") { [$0.key] },
        Member("event", "arrived, changed or left") { $0.event },
    ]
}

/// Reports keys and readers that appear, change and disappear: one line each, or one JSON answer each.
struct KeyWatch {
    let keys: KeyRing
    let terminal: Terminal
    let isJSON: Bool

    /// What happened to a key or reader.
    private enum Event: String {
        case arrived, changed, left

        var sign: String {
            switch self {
            case .arrived: "+"
            case .changed: "~"
            case .left: "-"
            }
        }
    }

    /// Runs until ^C.
    func run() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { for await event in keys.watch() { tell(event) } }
            group.addTask {
                while !keys.environment.cancellation.isCancelled { try await Task.sleep(for: .milliseconds(50)) }
                throw Explanation.interrupted
            }
            while try await group.next() != nil {}  // The first failure ends all.
        }
    }

    private func tell(_ event: KeyEvent) {
        switch event {
        case .arrived(let key): tell(.arrived, key)
        case .changed(let key): tell(.changed, key)
        case .left(let key): tell(.left, key)
        case .interrupted(let why): if !isJSON { terminal.warn(Warning(Explanation(why))) }
        case .enumerated: break
        }
    }

    private func tell(_ event: Event, _ key: Key) {
        guard let listed = key.attached else { return }
        if isJSON {
            terminal.line(WatchedKey(key: listed, event: event.rawValue).answer.text)
        } else {
            let words = event == .left ? Array(listed.row.prefix(1)) : listed.row
            terminal.line("\(event.sign) \(words.joined(separator: "  "))")
        }
    }
}
