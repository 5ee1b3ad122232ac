// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
package import TerminalIO
import YKTransport

/// The user at the terminal, who confirms with y and Enter. Anything else means no; input typed before the question
/// does not count.
package final class ConsentTerminal: Sendable {
    private struct State {
        var answer: (@Sendable (Bool) -> Void)?
        var typed: [UInt8] = []
    }

    private let descriptor: Int32
    private let terminal: Terminal
    private let state = Mutex(State())

    /// Opens the terminal; `nil` without one, or in the background.
    package init?(_ terminal: Terminal) {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        (self.descriptor, self.terminal) = (descriptor, terminal)
        guard Prompt.isForeground(descriptor) else { return nil }
        guard SystemThread.start({ [weak self] in while self?.listen() ?? false {} }) else { return nil }
    }

    deinit { close(descriptor) }

    /// Asks a question, given without the question mark, and returns immediately; an open question is answered with no.
    package func ask(_ question: String, answer: @escaping @Sendable (Bool) -> Void) {
        _ = tcflush(descriptor, TCIFLUSH)
        let open = state.withLock { state in
            defer { state = State(answer: answer) }
            return state.answer
        }
        open?(false)
        terminal.say("\(question)? [y/N]")
    }

    /// Withdraws the open question, if any.
    package func withdraw() {
        let open = state.withLock { state in
            defer { state = State() }
            return state.answer
        }
        guard let open else { return }
        open(false)
        terminal.say("the question is withdrawn")
    }

    /// Waits a short time for input; returns false at the end of the program. Without an open question nothing is read,
    /// since the input may be for a prompt or another program.
    private func listen() -> Bool {
        if Interruption.happened {
            withdraw()
            return false
        }
        guard state.withLock({ $0.answer != nil }) else {
            usleep(20_000)
            return true
        }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 100) > 0 else { return true }
        guard Prompt.isForeground(descriptor) else {
            usleep(100_000)
            return true
        }
        var block = [UInt8](repeating: 0, count: 256)
        let count = read(descriptor, &block, block.count)
        guard count > 0 else { return count < 0 && (errno == EAGAIN || errno == EINTR) }
        let answered: (answer: @Sendable (Bool) -> Void, isYes: Bool)? = state.withLock { state in
            guard let answer = state.answer else { return nil }
            state.typed += block.prefix(count)
            guard let end = state.typed.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = String(decoding: state.typed[..<end], as: UTF8.self).lowercased()
            state = State()
            return (answer, line == "y" || line == "yes")
        }
        answered?.answer(answered?.isYes ?? false)
        return true
    }
}
