// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKKeys
import YKTransport
import YKWire

/// Lists attached keys and readers.
struct List: Verb {
    static let about = About(
        "List the attached keys and readers.",
        discussion: "--watch prints a line for each key that is attached (+), changed (~) or removed (-), until ^C.",
        examples: [Example("ykit list"), Example("ykit list --watch", "Report keys as they are attached and removed.")])
    static let answer = Shape(Item<[AttachedKey]>("devices", "keys and readers"))

    static let events: [MemberForm] = WatchedKey.members.map(\.form)

    @Flag("--serials", help: "Print serial numbers only.") var serials = false

    @Flag("--readers", help: "Print only reader names, including empty readers; keys are not queried.")
    var readers = false

    @Flag(["--watch", "-w"], help: "Report keys that are attached or removed; keys are not queried.") var watch = false

    func check(with global: GlobalOptions) throws {
        if global.record != nil, global.virtual == nil, global.replay == nil {
            throw UsageError(
                "a recording covers one card, but list queries all of them; record info --reader NAME instead")
        }
        if serials, readers { throw UsageError("--serials and --readers cannot be combined") }
        if watch, serials || readers { throw UsageError("--watch covers all keys and readers") }
        if watch, global.virtual != nil || global.replay != nil || global.record != nil {
            throw UsageError("--watch works only with real keys")
        }
    }

    func run(in run: Run) async throws -> Outcome<[AttachedKey]> {
        if watch {
            try await KeyWatch(keys: run.keys, terminal: run.terminal, isJSON: run.options.json).run()
            return .printed
        }
        let attached = try run.keys.attached(asking: !readers)
        let keys = attached.keys
        if keys.isEmpty, let serial = run.options.device { throw KeyError.notFound(serial: serial, .any, []) }
        run.remember { names in
            names.readers = keys.compactMap(\.reader)
            if !readers { names.serials = keys.compactMap(\.serial) }
        }
        let lines: [String] =
            if readers { keys.compactMap(\.reader?.printable) } else if serials { keys.compactMap(\.serial) } else {
                Table.details(keys.map(\.row))
            }
        if keys.isEmpty {
            run.describe("nothing is sent: no key is attached")
            run.terminal.note(
                "no key is attached; to find out why: ykit doctor; to try ykit without a key: ykit --virtual list")
        }
        var outcome = Outcome(keys, lines)
        if let why = attached.serviceTrouble.map({ Explanation($0) }) {
            outcome.answer.warnings = [Warning(why.code, why.inOneLine)]
        }
        return outcome
    }
}

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
