// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKBridge

extension GuardState {
    /// The state in words.
    var lines: [String] {
        if pause > 0 { return ["paused, for \(pause) s more"] }
        if let absence { return ["the key is free while \(absence.words)"] }
        guard process > 0 else { return ["the key is free: nobody runs 'ykit guard'"] }
        guard let node else { return ["waiting for a key"] }
        return ["the key (\(node)) is guarded by process \(process)" + (device.map { "; programs find \($0)" } ?? "")]
    }
}

/// What a guard does, or did.
struct GuardReport: Report {
    var state = GuardState()
    var counts: (ceremonies: Int, refused: Int) = (0, 0)
    var log: [GuardLog.Entry] = []

    static let members: [Member<GuardReport>] = [
        Member("process", "of the user's part, null without one") {
            $0.state.process > 0 ? Int($0.state.process) : nil
        },
        Member("node", "of the key that was taken") { $0.state.node },
        Member("device", "the node that programs find") { $0.state.device },
        Member("pause", "the rest of a pause in seconds") { Int($0.state.pause) },
        Member("away", "why the key is free although a user's part runs: locked, inactive or asleep, else null") {
            $0.state.absence?.rawValue
        },
        Member("ceremonies", "how often the key was used") { $0.counts.ceremonies },
        Member("refused", "how many requests were refused") { $0.counts.refused },
        Member("log", "with `log`, what was asked and answered, the oldest first") {
            $0.log.map { GuardLogReport(entry: $0) }
        },
    ]
}

/// An entry of the log.
struct GuardLogReport: Report {
    let entry: GuardLog.Entry

    static let members: [Member<GuardLogReport>] = [
        Member("time", "in seconds since 1970") { Int($0.entry.time) },
        Member("site", "null if it is not known, or there is none") { $0.entry.site },
        Member("request", "what was asked for, after \"to\"") { $0.entry.request },
        Member("answer") { $0.entry.answer },
        Member("programs", "those of the user that had the device open") { $0.entry.programs },
    ]
}

extension GuardAbsence {
    /// Why the key is free, after "while".
    var words: String {
        switch self {
        case .locked: "the screen is locked"
        case .inactive: "another session is in front"
        case .asleep: "the machine sleeps"
        }
    }
}
