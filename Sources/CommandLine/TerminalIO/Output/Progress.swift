// SPDX-License-Identifier: Apache-2.0

/// Reports that a long operation is running: once, and on a terminal with the elapsed seconds.
package struct Progress {
    private let task: Task<Void, Never>
    private let terminal: Terminal

    /// Begins to report what takes more than a moment.
    ///
    /// - Parameter isSaid: Whether a line is written where standard error is no terminal; for what may take minutes.
    package init(_ terminal: Terminal, _ words: String, isSaid: Bool = true) {
        self.terminal = terminal
        let isShown = !terminal.isQuiet && (isSaid || terminal.isErrorTerminal)
        task = Task {
            guard isShown else { return }
            var seconds = 0
            while true {
                do { try await Task.sleep(for: .milliseconds(seconds == 0 ? 300 : 1000)) } catch { return }
                if terminal.isErrorTerminal {
                    terminal.draw(status: "\(words.printable) … \(seconds) s")
                } else if seconds == 0 {
                    terminal.say(words)
                }
                seconds += 1
            }
        }
    }

    /// Stops, and clears the line on the terminal.
    package func end() {
        task.cancel()
        if terminal.isErrorTerminal, !terminal.isQuiet { terminal.draw("\r\u{1B}[K") }
    }
}

extension Terminal {
    /// Draws the line that shows the progress over the previous one. The line never wraps, since it could not be
    /// redrawn then.
    package func draw(status: String) { draw("\r" + status.clipped(to: messageColumns - 1)) }
}

/// Shows on a terminal how much of a known total is done.
package struct Counter {
    private let terminal: Terminal
    private let words: String
    private let total: Int

    package init(_ terminal: Terminal, _ words: String, of total: Int) {
        (self.terminal, self.words, self.total) = (terminal, words, total)
    }

    /// Draws the count, about twenty times in total.
    package func show(_ done: Int) {
        guard terminal.isErrorTerminal, !terminal.isQuiet, done.isMultiple(of: max(1, total / 20)) else { return }
        terminal.draw(status: "\(words.printable): \(done) of \(total)")
    }

    /// Clears the line on the terminal.
    package func end() { if terminal.isErrorTerminal, !terminal.isQuiet { terminal.draw("\r\u{1B}[K") } }
}
