// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import Words
import YKBridge
import YKProtocols
import YKWire

/// Reports the requests of a far end and their results, as lines on the terminal and in the log.
final class RemoteEvents: Sendable {
    /// The maximum number of lines shown from the far end's program.
    private static let lineLimit = 200

    private let terminal: Terminal
    private let log: Log
    private let host: String
    private let state = Mutex((ceremonies: 0, refused: 0, lines: 0))

    init(_ terminal: Terminal, _ log: Log, host: String) {
        (self.terminal, self.log, self.host) = (terminal, log, host.printable)
    }

    /// How often the key was used, and how many requests were refused.
    var counts: (ceremonies: Int, refused: Int) { state.withLock { ($0.ceremonies, $0.refused) } }

    func report(_ event: RemoteEvent) {
        switch event {
        case .connected(let program):
            terminal.notice("\(host) is connected (ykit \(program.printable)); ^C ends it")
        case .begun(let ceremony, let asks):
            terminal.purpose("\(ceremony.words), for \(host)")
            log.say(.info, "\(host): \(ceremony.words)")
            if !asks { terminal.say("\(host) may \(ceremony.words) without asking") }
        case .refused(let ceremony, let refusal):
            state.withLock { $0.refused += 1 }
            let what = ceremony.map { ": \($0.words)" } ?? ""
            log.say(.info, "refused \(host)\(what): \(refusal.words)")
            terminal.notice("refused \(host)\(what): \(refusal.words)")
        case .withdrawn(let ceremony): terminal.notice("\(host) no longer asks to \(ceremony.words)")
        case .answered(let ceremony, let status):
            state.withLock { $0.ceremonies += 1 }
            let result =
                status == 0 ? "done" : CTAPProtocol.statuses[status]?.meaning ?? "status \(Hex.encode([status]))"
            terminal.notice("\(ceremony.words), for \(host): \(result)")
        case .used(let use, let status):
            state.withLock { $0.ceremonies += 1 }
            let result = status == .ok ? "done" : status.meaning ?? status.hex
            terminal.notice("\(use.words), for \(host): \(result)")
        case .failed(let ceremony, let error):
            terminal.warnNow("\(ceremony.words), for \(host): \(error.explanation.message)")
        }
    }

    /// Shows a line that ssh or the far end's program wrote to standard error, prefixed with the host and without
    /// control characters, so that it is not mistaken for a line from this program.
    func show(_ line: String) {
        let count = state.withLock { state in
            state.lines += 1
            return state.lines
        }
        guard count <= Self.lineLimit else { return }
        terminal.say("\(host)| \(line.trimmed.printable)")
        if count == Self.lineLimit { terminal.say("\(host)| …") }
    }
}
