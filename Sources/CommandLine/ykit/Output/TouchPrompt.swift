// SPDX-License-Identifier: Apache-2.0

/// Asks for a touch, but only when the key has waited 0.3 s for it.
struct TouchPrompt {
    /// What is said unless there is something better.
    static let usual = "touch the key"

    private let task: Task<Void, Never>

    init(_ terminal: Terminal, _ words: String = usual) {
        task = Task {
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            terminal.say(words)
        }
    }

    func end() { task.cancel() }
}
