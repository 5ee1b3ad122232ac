// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TerminalIO
import Verbs
import YKBridge
import YKHardware
import YKInteraction

/// Reports what programs of this machine ask of the key, and the results, as lines on the terminal and in the log.
final class GuardEvents: Sendable {
    private let terminal: Terminal
    private let log: Log
    private let state = Mutex((ceremonies: 0, refused: 0))
    /// Of what programs cause without the user: refused requests and searches.
    private let lines = LimitedLines()

    /// What was asked and answered, for later, and who had the device open; the system part has none.
    private let entries: (log: GuardLog?, programs: AskingPrograms, pin: GuardPIN)?
    private let known: Mutex<Set<String>>

    init(_ terminal: Terminal, _ log: Log) {
        (self.terminal, self.log, entries) = (terminal, log, nil)
        known = Mutex([])
    }

    /// - Parameter sites: Sites that were used before.
    init(
        _ terminal: Terminal, _ log: Log, _ entries: GuardLog?, _ programs: AskingPrograms, _ pin: GuardPIN,
        sites: [String]
    ) {
        (self.terminal, self.log, self.entries) = (terminal, log, (entries, programs, pin))
        known = Mutex(Set(sites))
    }

    /// The sites that were used before, or since.
    var sites: [String] { known.withLock { $0.sorted() } }

    /// How often the key was used, and how many requests were refused.
    var counts: (ceremonies: Int, refused: Int) { state.withLock { $0 } }

    /// An event of the user's part.
    func report(_ event: RemoteEvent) {
        switch event {
        case .connected: terminal.notice("the key is guarded: its use is confirmed here; ^C gives it back")
        case .begun(let ceremony, _):
            terminal.purpose(ceremony.words)
            log.say(.info, "asked to \(ceremony.words)")
        case .refused(let ceremony, let refusal):
            state.withLock { $0.refused += 1 }
            limited("refused" + (ceremony.map { " to \($0.words)" } ?? "") + ": \(Self.words(refusal))")
            if let ceremony { note(ceremony, Self.words(refusal)) }
        case .searched(let site, let status):
            limited("\(Ceremony.search(site: site).words): \(RemoteEvents.result(status))")
        case .withdrawn(let ceremony):
            limited("no program asks to \(ceremony.words) now")
            note(ceremony, "withdrawn")
        case .answered(let ceremony, let status):
            state.withLock { $0.ceremonies += 1 }
            let line = "\(ceremony.words): \(RemoteEvents.result(status))"
            terminal.notice(line)
            log.say(.info, line)
            note(ceremony, RemoteEvents.result(status))
        case .failed(let ceremony, let error):
            let failure = Explanation(entries?.pin.reason(for: error) ?? error)
            terminal.warnNow("\(ceremony.words): \(failure.message)")
            if failure.retriesLeft != nil, let hint = failure.hint { terminal.notice("hint: \(hint)") }
            note(ceremony, failure.message)
        case .opened, .used: break  // Of cards.
        }
    }

    private func note(_ ceremony: Ceremony, _ answer: String) {
        if let site = ceremony.site { _ = known.withLock { $0.insert(site) } }
        entries?.log?.add(
            GuardLog.Entry(
                time: Int64(time(nil)), site: ceremony.site, request: ceremony.words, answer: answer,
                programs: entries?.programs.known ?? []))
    }

    private static func words(_ refusal: RemotePolicy.Refusal) -> String {
        guard case .command(let name) = refusal else { return refusal.words }
        return "\(name) is not for programs while the key is guarded; 'ykit guard pause' gives it to them"
    }

    private func limited(_ line: String) {
        log.say(.info, line)
        lines.show({ terminal.notice(line) }, replace: { terminal.say("…") })
    }

    /// An event of the system part.
    func report(_ event: GuardEvent) {
        switch event {
        case .listening(let path):
            terminal.notice("waiting for 'ykit guard' at \(path.printable); ^C gives the key back")
        case .connected(let process): terminal.notice("'ykit guard' is process \(process)")
        case .refusedSecond(let process, let serving):
            terminal.warnNow("process \(process) was refused: process \(serving) is asked about the key")
        case .refusedUser(let number): terminal.warnNow("a process of user \(number) was refused")
        case .taken(let path): terminal.notice("the key is taken from programs, at \(path.printable)")
        case .presented(let node):
            terminal.notice(node.isEmpty ? "programs find the guard" : "programs find the guard at \(node.printable)")
        case .givenBack: terminal.notice("the key is given back")
        case .away(let process, let absence):
            terminal.notice("process \(process) waits, since \(absence.words)")
        case .paused(0): terminal.notice("the pause is over")
        case .paused(let seconds): terminal.notice("paused for \(seconds) s")
        case .failed(let error): terminal.warnNow(Explanation(error).message)
        case .notTaken(let failure):
            terminal.warnNow(Explanation(GuardError.nodeNotTaken(number: failure.number)).message)
        case .unseen(let browsers): terminal.warnNow(Explanation(GuardError.unseen(browsers: browsers)).message)
        }
    }
}
