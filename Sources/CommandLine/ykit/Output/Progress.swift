// SPDX-License-Identifier: Apache-2.0

/// Says that long work goes on: once, and on a terminal with the seconds that went by.
struct Progress {
    private let task: Task<Void, Never>
    private let terminal: Terminal

    init(_ terminal: Terminal, _ words: String) {
        self.terminal = terminal
        let isShown = !terminal.isQuiet
        task = Task {
            guard isShown else { return }
            var seconds = 0
            while true {
                do { try await Task.sleep(for: .milliseconds(seconds == 0 ? 300 : 1000)) } catch { return }
                if terminal.isErrorTerminal {
                    terminal.draw("\r\(words.printable) … \(seconds) s")
                } else if seconds == 0 {
                    terminal.say(words)
                }
                seconds += 1
            }
        }
    }

    /// Ends it, and removes what stands on the terminal.
    func end() {
        task.cancel()
        if terminal.isErrorTerminal, !terminal.isQuiet { terminal.draw("\r\u{1B}[K") }
    }
}

extension Terminal {
    /// Moves the cursor or draws over a line: writes the program's own text as it is.
    func draw(_ text: String, to descriptor: Int32 = 2) { Self.write(Array(text.utf8), to: descriptor) }
}

/// Counts on a terminal what is done of something of known size.
struct Counter {
    private let terminal: Terminal
    private let words: String
    private let total: Int

    init(_ terminal: Terminal, _ words: String, of total: Int) {
        (self.terminal, self.words, self.total) = (terminal, words, total)
    }

    /// Draws the count about twenty times on the way to the end.
    func show(_ done: Int) {
        guard terminal.isErrorTerminal, !terminal.isQuiet, done.isMultiple(of: max(1, total / 20)) else { return }
        terminal.draw("\r\(words.printable): \(done) of \(total)")
    }

    /// Removes what stands on the terminal.
    func end() { if terminal.isErrorTerminal, !terminal.isQuiet { terminal.draw("\r\u{1B}[K") } }
}
