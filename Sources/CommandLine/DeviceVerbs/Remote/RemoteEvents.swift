// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKBridge
import YKInteraction
import YKProtocols
import YKWire

/// Reports the requests of a far end and their results, as lines on the terminal and in the log.
final class RemoteEvents: Sendable {
    private struct State {
        var ceremonies = 0
        var refused = 0
    }

    private let terminal: Terminal
    private let log: Log
    private let host: String
    private let state = Mutex(State())
    /// Of what the far end causes: what its program writes, refused requests, searches.
    private let lines = LimitedLines()

    init(_ terminal: Terminal, _ log: Log, host: String) {
        (self.terminal, self.log, self.host) = (terminal, log, host.printable)
    }

    /// How often the key was used, and how many requests were refused.
    var counts: (ceremonies: Int, refused: Int) { state.withLock { ($0.ceremonies, $0.refused) } }

    func report(_ event: RemoteEvent) {
        switch event {
        case .connected(let program):
            terminal.notice("\(host) is connected (ykit \(Untrusted.word(program))); ^C ends it")
        case .begun(let ceremony, let asks):
            terminal.purpose("\(ceremony.words), for \(host)")
            log.say(.info, "\(host): \(ceremony.words)")
            if !asks { terminal.say("\(host) may \(ceremony.words) without asking") }
        case .refused(let ceremony, let refusal):
            state.withLock { $0.refused += 1 }
            let what = ceremony.map { ": \($0.words)" } ?? ""
            limited("refused \(host)\(what): \(refusal.words)")
        case .searched(let site, let status):
            limited("\(Ceremony.search(site: site).words), for \(host): \(Self.result(status))")
        case .opened(let application): limited("\(host) reads the card's \(application.title) application")
        case .withdrawn(let ceremony): limited("\(host) no longer asks to \(ceremony.words)")
        case .answered(let ceremony, let status):
            state.withLock { $0.ceremonies += 1 }
            terminal.notice("\(ceremony.words), for \(host): \(Self.result(status))")
        case .used(let use, let status):
            state.withLock { $0.ceremonies += 1 }
            let result = status == .ok ? "done" : status.meaning ?? status.hex
            terminal.notice("\(use.words), for \(host): \(result)")
        case .failed(let ceremony, let error):
            terminal.warnNow("\(ceremony.words), for \(host): \(Explanation(error).message)")
        }
    }

    static func result(_ status: UInt8) -> String {
        status == 0 ? "done" : CTAPProtocol.statuses[status]?.meaning ?? "status \(Hex.encode([status]))"
    }

    /// Reports something that the far end can cause without the user.
    private func limited(_ line: String) {
        log.say(.info, line)
        show { terminal.notice(line) }
    }

    /// Shows one of the lines that the far end causes.
    private func show(_ body: () -> Void) {
        lines.show(body) { terminal.say("\(host)| …") }
    }

    /// Shows a line that ssh or the far end's program wrote to standard error, prefixed with the host and without
    /// control characters, so that it is not mistaken for a line from this program.
    func show(_ line: String) {
        show { terminal.say("\(host)| \(line.trimmed.printable)") }
    }
}

/// Limits the lines on a terminal that other programs cause: 200, later one in ten seconds.
final class LimitedLines: Sendable {
    private static let limit = 200
    private static let time = Duration.seconds(10)

    private struct State {
        var lines = 0
        /// When the next line is shown once there were too many.
        var next = ContinuousClock.now
        var isHiding = false
    }

    private let state = Mutex(State())

    /// Shows a line, unless there were too many; the first one that is hidden is replaced.
    ///
    /// - Parameter replace: Shows that lines are hidden.
    func show(_ body: () -> Void, replace: () -> Void) {
        let (isShown, isFirstHidden) = state.withLock { state in
            if state.lines < Self.limit {
                state.lines += 1
            } else if state.next > .now {
                defer { state.isHiding = true }
                return (false, !state.isHiding)
            }
            state.isHiding = false
            state.next = .now.advanced(by: Self.time)
            return (true, false)
        }
        if isShown { body() }
        if isFirstHidden { replace() }
    }
}
