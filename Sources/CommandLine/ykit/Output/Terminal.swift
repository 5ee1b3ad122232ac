// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import YKWire

/// Standard output, standard error, and what is known of them.
struct Terminal: Sendable {
    /// Whether results go to a terminal.
    let isOutputTerminal: Bool
    /// Whether messages go to a terminal.
    let isErrorTerminal: Bool
    /// Whether results, and messages, are styled.
    private var stylesOutput: Bool
    private var stylesErrors: Bool
    /// Whether hints, notices and progress are left out.
    private(set) var isQuiet = false
    /// Whether warnings are kept for the answer, for programs.
    private var isNoting = false
    private let notes = Notes()

    private final class Notes: Sendable {
        /// Every warning, and how many of them are kept for the answer.
        let texts = Mutex<(all: [String], kept: [String])>(([], []))
        /// Takes messages in the place of standard error.
        let relay = Mutex<(@Sendable (String) -> Void)?>(nil)
        /// What the key is used for, and who is told besides when it waits for a touch.
        let touch = Mutex<(reason: String, notifier: TouchNotifier?)>(("use the key", nil))
    }

    init() {
        isOutputTerminal = isatty(1) == 1
        isErrorTerminal = isatty(2) == 1
        stylesOutput = Style.isWanted(nil, isTerminal: isOutputTerminal)
        stylesErrors = Style.isWanted(nil, isTerminal: isErrorTerminal)
    }

    /// The same terminal as the options have it.
    func set(by options: GlobalOptions) -> Terminal {
        Style.chosen.withLock { $0 = options.color }
        var copy = self
        copy.isNoting = options.json
        copy.isQuiet = options.quiet
        copy.stylesOutput = !options.json && Style.isWanted(options.color, isTerminal: isOutputTerminal)
        copy.stylesErrors = Style.isWanted(options.color, isTerminal: isErrorTerminal)
        return copy
    }

    /// Writes a result.
    func out(_ text: String) { Self.write(Array(text.shown(styled: stylesOutput).utf8), to: 1) }

    /// Writes a line of the result.
    func line(_ text: String) { out(text + "\n") }

    /// Writes the lines of a result at once; a terminal gets them as wide as it is.
    func lines(_ lines: [String]) {
        Self.write(bytes(of: lines), to: 1)
    }

    /// Lines of a result as they are written.
    func bytes(of lines: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        let width = columns
        for line in isOutputTerminal ? lines.flatMap({ $0.wrapped(to: width) }) : lines {
            bytes += line.shown(styled: stylesOutput).utf8
            bytes.append(UInt8(ascii: "\n"))
        }
        return bytes
    }

    /// Writes a message for the person, one line: a request, a warning or a failure.
    func say(_ text: String) {
        if let relay = notes.relay.withLock({ $0 }) { return relay(text.shown(styled: false)) }
        Self.write(Array((text.shown(styled: stylesErrors) + "\n").utf8), to: 2)
    }

    /// Writes a message that nobody has to act on; none with `--quiet`.
    func notice(_ text: String) { if !isQuiet { say(text) } }

    /// Hands messages to something else than standard error; `nil` ends that.
    func relay(_ body: (@Sendable (String) -> Void)?) { notes.relay.withLock { $0 = body } }

    /// Takes note of what the key is used for, for those who are asked to touch it.
    func purpose(_ reason: String) { notes.touch.withLock { $0.reason = reason } }

    /// Has somebody told besides when the key waits for a touch.
    func notify(by notifier: TouchNotifier?) { notes.touch.withLock { $0.notifier = notifier } }

    /// Says that the key waits for a touch.
    func beginTouch(_ words: String) {
        say(words)
        let (reason, notifier) = notes.touch.withLock { $0 }
        notifier?.begin(words, for: reason.shown(styled: false))
    }

    /// Says to whom it may concern that the key does not wait any more.
    func endTouch() { notes.touch.withLock { $0.notifier }?.end() }

    /// Waits until everybody was told.
    func finishTouch() { notes.touch.withLock { $0.notifier }?.finish() }

    /// Writes a message for the person alone, who sees the results too.
    func note(_ text: String) { if isOutputTerminal, isErrorTerminal { notice(Style.dim.around(text)) } }

    /// Writes a warning.
    func warn(_ text: String) {
        guard isNoting else { return warnNow(text) }
        notes.texts.withLock {
            $0.all.append(text)
            $0.kept.append(text)
        }
    }

    /// Writes a warning that no answer will have.
    func warnNow(_ text: String) {
        notes.texts.withLock { $0.all.append(text) }
        say(Style.yellow.around("warning:") + " " + text)
    }

    /// The warnings that were kept for the answer.
    var noted: [String] { notes.texts.withLock { $0.kept } }

    /// Every warning so far.
    var warnings: [String] { notes.texts.withLock { $0.all } }

    /// Writes a failure.
    func fail(_ explanation: Explanation) {
        say(Style.red.around("ykit:") + " " + explanation.lines(hasHint: !isQuiet).joined(separator: "\n"))
    }

    /// Writes all bytes. When the reader of the results went away, there is nothing left to do; when they cannot be
    /// written for another reason, the program ends here and has failed.
    ///
    /// - Parameter isMadeOnce: Whether these are results that a key makes only once: they go elsewhere then.
    static func write(_ bytes: [UInt8], to descriptor: Int32, isMadeOnce: Bool = false) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EPIPE, descriptor == 1, !isMadeOnce { exit(0) }
            guard count > 0 else {
                if descriptor == 1 { endWithoutResults(rescuing: isMadeOnce ? bytes : nil) }
                return
            }
            rest = rest.dropFirst(count)
        }
    }
}

extension Terminal {
    /// How wide what shows the results is, 80 columns when that is no terminal.
    var columns: Int { Self.size.map { Int($0.ws_col) } ?? 80 }

    /// How wide help is: lines of more than 120 columns are hard to read.
    var helpColumns: Int { min(max(columns, 40), 120) }

    /// How many lines it has.
    var rows: Int { Self.size.map { Int($0.ws_row) } ?? 24 }

    private static var size: winsize? {
        var size = winsize()
        return ioctl(1, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0 ? size : nil
    }

    /// Ends the program. What must not be lost goes into a file for temporary files, else to the terminal.
    private static func endWithoutResults(rescuing bytes: [UInt8]?) -> Never {
        var message = "ykit: cannot write the results: \(System.failure)\n"
        if let bytes {
            if let file = Files.rescue(bytes) {
                message += "hint: they are in \(file)\n"
            } else if let prompt = try? Prompt(orElse: "") {
                prompt.tell(String(decoding: bytes, as: UTF8.self))
            }
        }
        write(Array(message.utf8), to: 2)
        exit(ExitStatus.failed.rawValue)
    }

    /// Puts something into the places of standard input, output and error that are closed, which can neither be read
    /// nor written: a file opened later would get the number, and the results. Whether results can be told.
    static func fillPlaces() -> Bool {
        var isComplete = true
        for descriptor in Int32(0)...2 where fcntl(descriptor, F_GETFD) < 0 {
            if descriptor == 1 { isComplete = false }
            _ = open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY)
        }
        return isComplete
    }
}

/// The variables of the process environment.
enum Variables {
    static subscript(name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        return String(cString: value)
    }
}
