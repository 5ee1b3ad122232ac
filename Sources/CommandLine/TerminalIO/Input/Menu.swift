// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKInteraction
import YKWire

/// A list from which one line is chosen with the arrow keys, by number or by typing part of it. Initially nothing is
/// selected, so that Enter alone has no effect.
struct MenuState {
    /// A key that was pressed.
    enum Key: Equatable {
        case up, down, pageUp, pageDown, first, last, enter, erase, eraseAll, cancel
        case text(String)
    }

    private let lines: [String]
    /// The text typed so far: a line number, or the text to filter by.
    private(set) var typed = ""
    /// The index of the highlighted line among the matches.
    private var place: Int?
    /// The first visible match.
    private var top = 0

    init(_ lines: [String]) { self.lines = lines }

    /// The line whose number was typed.
    private var number: Int? {
        guard let number = Int(typed), typed.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return lines.indices.contains(number - 1) ? number - 1 : nil
    }

    /// The lines that match what was typed.
    var matches: [Int] {
        guard !typed.isEmpty, number == nil else { return Array(lines.indices) }
        return lines.indices.filter { lines[$0].mentions(typed) }
    }

    /// The highlighted line; a typed number or a single match is highlighted automatically.
    var selection: Int? {
        let matches = matches
        if let place { return matches.indices.contains(place) ? matches[place] : nil }
        if let number { return number }
        return !typed.isEmpty && matches.count == 1 ? matches[0] : nil
    }

    /// Handles a key.
    ///
    /// - Returns: The chosen line, once Enter is pressed with one highlighted.
    mutating func press(_ key: Key) -> Int? {
        switch key {
        case .enter: return selection
        case .up: move(by: -1)
        case .down: move(by: 1)
        case .pageUp: move(by: -10)
        case .pageDown: move(by: 10)
        case .first: place = 0
        case .last: place = matches.count - 1
        case .text(let text):
            if typed.count < 100 { typed += text }
            place = nil
        case .erase:
            typed = String(typed.dropLast())
            place = nil
        case .eraseAll:
            typed = ""
            place = nil
        case .cancel: break
        }
        return nil
    }

    private mutating func move(by step: Int) {
        let matches = matches
        guard !matches.isEmpty else { return }
        let before = selection.flatMap { matches.firstIndex(of: $0) } ?? (step > 0 ? -1 : matches.count)
        place = min(max(before + step, 0), matches.count - 1)
    }

    /// Returns the lines for a terminal of this size: the question, as many matches as fit, and key bindings; at least
    /// one line.
    mutating func frame(_ question: String, columns: Int, rows: Int) -> [String] {
        let matches = matches
        let most = max(1, rows - (rows >= 4 ? 3 : rows >= 2 ? 2 : 1))
        if let selection, let index = matches.firstIndex(of: selection) {
            top = min(max(top, index - most + 1), index)
        }
        top = max(0, min(top, matches.count - most))
        let width = String(lines.count).count
        var frame = matches.dropFirst(top).prefix(most).map { index in
            let number = String(repeating: " ", count: width - String(index + 1).count) + String(index + 1)
            let row = "\(number)  \(lines[index])"
            return index == selection ? Style.bold.around("> " + row) : "  " + row
        }
        if matches.isEmpty { frame = ["  no line has '\(typed.printable)'"] }
        if rows >= 2 { frame.insert(question + (typed.isEmpty ? "" : " " + typed.printable), at: 0) }
        if rows >= 4 {
            let shown = matches.count > most ? "\(top + 1)-\(min(top + most, matches.count)) of \(matches.count), " : ""
            frame.append(Style.dim.around(shown + "arrows, number or name, Enter; Esc cancels"))
        }
        return frame.prefix(max(1, rows)).map { $0.clipped(to: max(1, columns - 1)) }
    }
}

/// A menu on a terminal. ^C, ^D and Esc cancel it; ^Z stops the process, and `fg` redraws it.
struct Menu {
    let input: Int32
    let output: Int32
    let variables: EnvironmentVariables
    let question: String
    let lines: [String]

    /// How long to wait for the rest of an escape sequence, in milliseconds.
    private static let patience: Int32 = 50

    /// Whether a terminal can show a menu.
    static func isPossible(_ input: Int32, _ output: Int32, _ variables: EnvironmentVariables) -> Bool {
        let kind = variables["TERM"] ?? ""
        return isatty(input) == 1 && isatty(output) == 1 && !kind.isEmpty && kind != "dumb"
    }

    /// Shows the menu until a line is chosen.
    ///
    /// - Returns: The index of the line.
    /// - Throws: `interrupted`.
    func choose() throws -> Int {
        var saved = termios()
        guard tcgetattr(input, &saved) == 0 else { throw Explanation.interrupted }
        defer { if Prompt.isForeground(input) { tcsetattr(input, TCSADRAIN, &saved) } }
        return try Suspension.watching {
            try Interruption.awake { wake in try choose(wake, saved) }
        }
    }

    private func choose(_ wake: Int32, _ saved: termios) throws -> Int {
        var state = MenuState(lines)
        var drawn = 0
        silence(saved)
        while true {
            draw(&state, &drawn)
            let keys: [MenuState.Key]
            do { keys = try wait(wake, saved, &drawn) } catch {
                erase(&drawn)
                throw error
            }
            for key in keys {
                if key == .cancel {
                    erase(&drawn)
                    throw Explanation.interrupted
                }
                guard let choice = state.press(key) else { continue }
                erase(&drawn)
                put(question + " " + lines[choice] + "\n")
                return choice
            }
        }
    }

    /// Disables echo and line buffering, and discards input typed before the menu appeared.
    private func silence(_ saved: termios) {
        var modes = saved
        modes.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(input, TCSAFLUSH, &modes)
    }

    // MARK: - drawing

    private func put(_ text: String) {
        let isStyled = Style.isWanted(isTerminal: true, variables)
        Descriptor.show(text.shown(styled: isStyled), on: output)
    }

    private func draw(_ state: inout MenuState, _ drawn: inout Int) {
        let size = Descriptor.size(of: output)
        let frame = state.frame(question, columns: size?.columns ?? 80, rows: size?.rows ?? 24)
        erase(&drawn)
        put(frame.joined(separator: "\n"))
        drawn = frame.count
    }

    /// Erases the drawn lines; the cursor ends at their beginning.
    private func erase(_ drawn: inout Int) {
        guard drawn > 0 else { return }
        let up = drawn > 1 ? "\u{1B}[\(drawn - 1)A" : ""
        Descriptor.show(up + "\r\u{1B}[J", on: output)
        drawn = 0
    }

    // MARK: - keys

    /// Waits for keys; returns none if a signal came first.
    private func wait(_ wake: Int32, _ saved: termios, _ drawn: inout Int) throws -> [MenuState.Key] {
        if Interruption.happened { throw Explanation.interrupted }
        var events = [
            pollfd(fd: input, events: Int16(POLLIN), revents: 0), pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        let count = poll(&events, 2, -1)
        if count > 0, events[1].revents == 0 { return try read() }
        var signals = [UInt8](repeating: 0, count: 64)
        _ = Glibc.read(wake, &signals, signals.count)
        if Interruption.happened { throw Explanation.interrupted }
        if Suspension.wasRequested {
            var modes = saved
            erase(&drawn)
            tcsetattr(input, TCSADRAIN, &modes)
            Suspension.stop(wake)
            _ = Suspension.hasEnded
        } else if Suspension.hasEnded {
            drawn = 0
        } else {
            return []
        }
        guard Prompt.isForeground(input) else { throw Explanation.interrupted }
        silence(saved)
        return []
    }

    private func read() throws -> [MenuState.Key] {
        var bytes = try piece()
        while bytes == [0x1B] || !Self.isWhole(bytes), try isMore() { bytes += try piece() }
        return Self.keys(bytes)
    }

    private func piece() throws -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            let count = Glibc.read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw Explanation.interrupted }
            return Array(buffer.prefix(count))
        }
    }

    private func isMore() throws -> Bool {
        var event = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        return poll(&event, 1, Self.patience) > 0
    }

    /// Whether the bytes end neither within an escape sequence nor within a character.
    private static func isWhole(_ bytes: [UInt8]) -> Bool {
        guard String(validating: bytes, as: UTF8.self) != nil else { return false }
        guard let last = bytes.lastIndex(of: 0x1B) else { return true }
        let rest = bytes[(last + 1)...]
        return rest.contains { $0 >= 0x40 && $0 != UInt8(ascii: "[") && $0 != UInt8(ascii: "O") }
    }

    /// Parses the keys in terminal input (ECMA-48 §5.4 for sequences); unknown keys are dropped.
    static func keys(_ bytes: [UInt8]) -> [MenuState.Key] {
        var keys: [MenuState.Key] = []
        var rest = String(decoding: bytes, as: UTF8.self).unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar.value {
            case 0x1B: keys += sequence(&rest)
            case 0x0A, 0x0D: keys.append(.enter)
            case 0x03, 0x04: keys.append(.cancel)
            case 0x08, 0x7F: keys.append(.erase)
            case 0x15, 0x17: keys.append(.eraseAll)
            case 0x10: keys.append(.up)
            case 0x09, 0x0E: keys.append(.down)
            default: if !scalar.isHazardous { keys.append(.text(String(Character(scalar)))) }
            }
        }
        return keys
    }

    private static func sequence(_ rest: inout Substring.UnicodeScalarView) -> [MenuState.Key] {
        guard let introducer = rest.first else { return [.cancel] }
        guard introducer == "[" || introducer == "O" else { return [.cancel] }
        rest.removeFirst()
        var parameters = ""
        while let scalar = rest.popFirst() {
            guard scalar.value >= 0x40 else {
                parameters.unicodeScalars.append(scalar)
                continue
            }
            switch (scalar, parameters) {
            case ("A", _): return [.up]
            case ("B", _): return [.down]
            case ("H", _), ("~", "1"), ("~", "7"): return [.first]
            case ("F", _), ("~", "4"), ("~", "8"): return [.last]
            case ("~", "5"): return [.pageUp]
            case ("~", "6"): return [.pageDown]
            default: return []
            }
        }
        return []
    }
}
