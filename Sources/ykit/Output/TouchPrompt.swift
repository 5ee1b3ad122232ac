// SPDX-License-Identifier: Apache-2.0

/// Asks for a touch, but only when the key has waited 0.3 s for it.
struct TouchPrompt {
    private let task: Task<Void, Never>

    init(_ terminal: Terminal) {
        task = Task {
            do { try await Task.sleep(for: .milliseconds(300)) } catch { return }
            terminal.say("touch the key")
        }
    }

    func end() { task.cancel() }
}
