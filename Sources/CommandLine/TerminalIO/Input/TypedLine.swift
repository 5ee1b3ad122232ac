// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKHardware
import YKInteraction
import YKWire

/// A line typed at a terminal, with or without echo. ^C and ^D cancel; ^Z stops the process, and echo is off again
/// after `fg`; after `bg` the question is cancelled.
struct TypedLine {
    let input: Int32
    let output: Int32
    let question: String
    /// What follows the question, such as " [y/N]".
    let mark: String
    /// Whether echo is off.
    let isSilent: Bool
    /// What ends the question without an answer; `nil` for one that only the person ends.
    let end: PromptEnd?

    /// Asks, and returns the line without its end.
    ///
    /// - Throws: `Explanation` if it was interrupted by ^C, ^D or a closed terminal; `Declined` if the question was
    ///   withdrawn, or not answered in time.
    func read() throws -> Secret {
        if isSilent { OwnProcess.hide() }
        var saved = termios()
        let modes = tcgetattr(input, &saved) == 0 ? saved : nil
        let isArmed = end?.arm() ?? false
        return try Suspension.watching {
            try Interruption.awake { wake in
                var line = Line(typed: self, wake: wake, saved: modes)
                defer { line.finish(restoring: isSilent || isArmed) }
                if isArmed { try line.arm() } else { line.ask() }
                return try line.read()
            }
        }
    }

    /// The question as it is shown, and its mark.
    fileprivate var shown: (question: String, mark: String) {
        let whole = (question + mark).wrappedLines(to: Descriptor.size(of: output)?.columns ?? 80).shown(styled: false)
        let mark = mark.trimmed
        return (String(whole.dropLast(mark.count)), mark + " ")
    }
}

/// The state of a line that is being typed.
private struct Line {
    let typed: TypedLine
    /// Readable when a signal arrives.
    let wake: Int32
    /// The modes of the terminal before the question.
    let saved: termios?
    /// Whether the line was begun before its answer could count.
    var isEarly = false
    /// Whether anything was typed before an answer could count.
    var wasTyped = false
    /// Whether the line has more bytes than are read.
    var isTooLong = false

    /// Reads a line that was begun after the question could be answered.
    mutating func read() throws -> Secret {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(SecretInput.limit)  // An array that grows leaves copies behind.
        defer { Secret.wipe(&bytes) }
        while true {
            guard try wait() else { continue }
            guard let byte = try next() else { continue }
            guard byte == UInt8(ascii: "\n") else {
                if bytes.count < SecretInput.limit { bytes.append(byte) } else { isTooLong = true }
                continue
            }
            guard isEarly || isTooLong else { break }
            Secret.wipe(&bytes)
            bytes.removeAll(keepingCapacity: true)
            if isEarly {
                askAgain()
            } else {
                write("the line is longer than \(SecretInput.limit) bytes\n")
                ask()
            }
            (isEarly, isTooLong) = (false, false)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Secret(bytes)
    }

    /// The next byte; `nil` if there is none yet.
    private func next() throws -> UInt8? {
        var byte: UInt8 = 0
        let count = Glibc.read(typed.input, &byte, 1)
        if count < 0, errno == EINTR || errno == EAGAIN { return nil }
        // ^D at the start of a line, or a closed terminal.
        guard count > 0 else { throw ended() }
        return byte
    }

    // MARK: the question

    /// Writes the question; without echo, discards what was typed before it.
    func ask() {
        if typed.isSilent { set(echoes: false, TCSAFLUSH) }
        let (question, mark) = typed.shown
        write(question + mark)
    }

    /// Writes the question, and waits until an answer counts. What is typed until then is not shown and discarded, and a
    /// line of it that has not ended when it ends. The mark of a secret follows only then, so that no part of a secret is
    /// lost.
    mutating func arm() throws {
        let (question, mark) = typed.shown
        set(echoes: false, isWhole: false, TCSANOW)
        try drop()
        wasTyped = false
        write(typed.isSilent ? question : question + mark)
        let armed = ContinuousClock.now.advanced(by: QuestionCause.arming)
        while case let left = ContinuousClock.now.duration(to: armed), left > .zero {
            if try wait(atMost: Int32(left / .milliseconds(1)) + 1) { try drop() }
        }
        set(echoes: !typed.isSilent, TCSANOW)
        try drop()
        if typed.isSilent { write(mark) } else if wasTyped, !isEarly { askAgain() }
    }

    private func askAgain() {
        write("\nthat was typed before the question could be read; answer again\n")
        ask()
    }

    /// Discards what was typed.
    private mutating func drop() throws {
        var event = pollfd(fd: typed.input, events: Int16(POLLIN), revents: 0)
        while poll(&event, 1, 0) > 0 {
            guard let byte = try next() else { return }
            wasTyped = true
            isEarly = byte != UInt8(ascii: "\n")
        }
    }

    /// Restores the modes of the terminal, and discards what was typed and not read.
    func finish(restoring: Bool) {
        guard restoring, Prompt.isForeground(typed.input) else { return }
        if var saved { tcsetattr(typed.input, TCSAFLUSH, &saved) }
        if typed.isSilent { write("\n") }
    }

    // MARK: the terminal

    /// - Parameter isWhole: Whether only whole lines can be read, which the terminal edits.
    private func set(echoes: Bool, isWhole: Bool = true, _ when: Int32) {
        guard var modes = saved else { return }
        if !echoes { modes.c_lflag &= ~tcflag_t(ECHO) }
        if !isWhole { modes.c_lflag &= ~tcflag_t(ICANON) }
        tcsetattr(typed.input, when, &modes)
    }

    private func write(_ text: String) { Descriptor.show(text, on: typed.output) }

    private func ended() -> Explanation {
        if !typed.isSilent, Prompt.isForeground(typed.input) { write("\n") }
        return Explanation.interrupted
    }

    /// Waits for input; returns false if something else came first.
    ///
    /// - Parameter limit: The longest wait, in milliseconds.
    private func wait(atMost limit: Int32 = -1) throws -> Bool {
        if Interruption.happened { throw ended() }
        var events = [
            pollfd(fd: typed.input, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        var time = limit
        if let end = typed.end {
            events.append(end.event)
            let left = try left(end)
            time = limit < 0 ? left : left < 0 ? limit : min(limit, left)
        }
        let count = poll(&events, nfds_t(events.count), time)
        if let end = typed.end { _ = try left(end) }
        if count == 0 { return false }
        if count > 0, events[1].revents == 0 { return events[0].revents != 0 }
        var signals = [UInt8](repeating: 0, count: 64)
        _ = Glibc.read(wake, &signals, signals.count)
        if Interruption.happened { throw ended() }
        try suspend()
        return false
    }

    /// The time that is left, in milliseconds.
    private func left(_ end: PromptEnd) throws -> Int32 {
        do throws(Declined) { return try end.milliseconds() } catch {
            if !typed.isSilent, Prompt.isForeground(typed.input) { write("\n") }
            throw error
        }
    }

    /// Stops the process after ^Z, and asks again once it continues.
    private func suspend() throws {
        if Suspension.wasRequested {
            if var saved { tcsetattr(typed.input, TCSAFLUSH, &saved) }
            write("\n")
            Suspension.stop(wake)
            _ = Suspension.hasEnded
        } else if !Suspension.hasEnded {
            return
        }
        guard Prompt.isForeground(typed.input) else { throw ended() }
        ask()
    }
}
