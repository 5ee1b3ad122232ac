// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKHardware

/// A line typed at a terminal, with or without echo. ^C and ^D cancel; ^Z stops the process, and echo is off again
/// after `fg`; after `bg` the question is cancelled.
struct TypedLine {
    let input: Int32
    let output: Int32
    let question: String
    /// Whether echo is off.
    let isSilent: Bool

    /// Asks, and returns the line without its end.
    ///
    /// - Throws: `Explanation`: interrupted by ^C, ^D or a closed terminal, or a line longer than `SecretInput.limit`.
    func read() throws -> Secret {
        if isSilent { OwnProcess.hide() }
        var saved = termios()
        let hasModes = tcgetattr(input, &saved) == 0
        defer {
            if isSilent, Prompt.isForeground(input) {
                if hasModes { tcsetattr(input, TCSAFLUSH, &saved) }
                Terminal.write([UInt8(ascii: "\n")], to: output)
            }
        }
        return try Suspension.watching {
            try Interruption.awake { wake in try read(wake, hasModes ? saved : nil) }
        }
    }

    private func read(_ wake: Int32, _ saved: termios?) throws -> Secret {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(SecretInput.limit)  // An array that grows leaves copies behind.
        defer { Secret.wipe(&bytes) }
        ask(saved)
        while true {
            guard try wait(wake, saved) else { continue }
            var byte: UInt8 = 0
            let count = Glibc.read(input, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            // ^D at the start of a line, or a closed terminal.
            guard count > 0 else { throw ended() }
            if byte == UInt8(ascii: "\n") { break }
            guard bytes.count < SecretInput.limit else {
                throw Explanation.usage("the line is longer than \(SecretInput.limit) bytes")
            }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Secret(bytes)
    }

    /// Writes the question; without echo, discards what was typed before it.
    private func ask(_ saved: termios?) {
        if isSilent, var silent = saved {
            silent.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(input, TCSAFLUSH, &silent)
        }
        let asked = (question + (isSilent ? ":" : "")).wrappedLines(to: Terminal.columns(of: output) ?? 80)
        Terminal.write(Array((asked.shown(styled: false) + " ").utf8), to: output)
    }

    private func ended() -> Explanation {
        if !isSilent, Prompt.isForeground(input) { Terminal.write([UInt8(ascii: "\n")], to: output) }
        return Explanation.interrupted
    }

    /// Waits for input; returns false if a signal came first.
    private func wait(_ wake: Int32, _ saved: termios?) throws -> Bool {
        if Interruption.happened { throw ended() }
        var events = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&events, 2, -1)
        if count > 0, events[1].revents == 0 { return true }
        var signals = [UInt8](repeating: 0, count: 64)
        _ = Glibc.read(wake, &signals, signals.count)
        if Interruption.happened { throw ended() }
        if Suspension.wasRequested {
            if isSilent, var modes = saved { tcsetattr(input, TCSAFLUSH, &modes) }
            Terminal.write([UInt8(ascii: "\n")], to: output)
            Suspension.stop(wake)
            _ = Suspension.hasEnded
        } else if !Suspension.hasEnded {
            return false
        }
        guard Prompt.isForeground(input) else { throw ended() }
        ask(saved)
        return false
    }
}
