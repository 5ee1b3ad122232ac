// SPDX-License-Identifier: Apache-2.0

/// Says that long work goes on: once, and on a terminal with the seconds that went by.
struct Progress {
    private let task: Task<Void, Never>
    private let terminal: Terminal

    init(_ terminal: Terminal, _ words: String) {
        self.terminal = terminal
        task = Task {
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
        if terminal.isErrorTerminal { terminal.draw("\r\u{1B}[K") }
    }
}

extension Terminal {
    /// Moves the cursor or draws over a line: writes the program's own text as it is.
    func draw(_ text: String, to descriptor: Int32 = 2) { Self.write(Array(text.utf8), to: descriptor) }
}
