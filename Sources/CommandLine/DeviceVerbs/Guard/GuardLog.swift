// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TerminalIO
import YKHardware
import YKInteraction
import YKTransport

/// What programs asked of a guarded key, and the answers: a file in ykit's state folder, which only its owner may read. It has
/// no secrets.
final class GuardLog: Sendable {
    /// The size from which the older half of the file is removed, in bytes.
    private static let limit = 256 << 10

    /// What was asked, and the answer.
    struct Entry: Hashable {
        /// Seconds since 1970.
        let time: Int64
        /// The site; `nil` if it is not known, or there is none.
        let site: String?
        /// What was asked for, as a phrase after "to".
        let request: String
        /// The answer.
        let answer: String
        /// The programs that had the device open.
        let programs: [String]

        /// The line of the file: five fields with tabs between them.
        var line: String {
            let names = programs.map { $0.printable.replacing(",", with: " ") }.joined(separator: ",")
            return [String(time), site?.printable ?? "", request.printable, answer.printable, names]
                .joined(separator: "\t") + "\n"
        }

        init(time: Int64, site: String?, request: String, answer: String, programs: [String]) {
            (self.time, self.site, self.request) = (time, site, request)
            (self.answer, self.programs) = (answer, programs)
        }

        /// Reads a line; `nil` if it is none of the file's.
        init?(_ line: Substring) {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            guard fields.count == 5, let time = Int64(fields[0]) else { return nil }
            self.init(
                time: time, site: fields[1].isEmpty ? nil : fields[1], request: fields[2], answer: fields[3],
                programs: fields[4].split(separator: ",").map(String.init))
        }

        /// The line for people, in local time.
        var words: String {
            var (seconds, parts) = (time_t(time), tm())
            localtime_r(&seconds, &parts)
            var text = [CChar](repeating: 0, count: 32)
            strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
            let day = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let asking = programs.isEmpty ? "" : " (\(programs.map(\.printable).joined(separator: ", ")))"
            return "\(day)  \(request.printable): \(answer.printable)\(asking)"
        }
    }

    /// The file's folder.
    private static func folder(_ terminal: Terminal) throws -> String {
        try UserFolder.state.required(terminal.stage.variables)
    }

    /// The file's path.
    private static func path(_ terminal: Terminal) throws -> String { try folder(terminal) + "/guard.log" }

    private let path: String
    private let descriptor: Mutex<Int32>
    private let terminal: Terminal
    private let hasFailed = Atomic(false)

    /// Opens the file, and creates it if needed.
    init(_ terminal: Terminal) throws {
        self.terminal = terminal
        path = try Self.path(terminal)
        try UserFolder.makeWritable(try Self.folder(terminal))
        try Self.shorten(path)
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Files.failure("cannot open", path) }
        descriptor = Mutex(file)
    }

    deinit { descriptor.withLock { _ = close($0) } }

    /// Adds an entry. A failure is reported once.
    func add(_ entry: Entry) {
        do throws(FileFailure) {
            try descriptor.withLock { file throws(FileFailure) in
                try NewFile.write(Array(entry.line.utf8), to: file, path)
            }
        } catch {
            guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
            terminal.warnNow("the log is incomplete: \(Explanation(error).message)")
        }
    }

    /// What the file has; nothing without a file.
    static func content(_ terminal: Terminal) throws -> Content {
        let path = try path(terminal)
        return Content(Files.isTaken(path) ? try text(path) : "")
    }

    /// The content of the file.
    struct Content {
        /// The entries, the oldest first.
        let entries: [Entry]
        /// The number of lines that are no entries.
        let unread: Int

        init(_ text: String) {
            let lines = text.split(separator: "\n")
            entries = lines.compactMap { Entry($0) }
            unread = lines.count - entries.count
        }

        /// What could not be read, in words; `nil` if everything could.
        var problem: String? {
            unread > 0 ? "\(unread) \(unread == 1 ? "line" : "lines") of the log could not be read" : nil
        }
    }

    private static func text(_ path: String) throws -> String {
        String(decoding: try Files.read(path), as: UTF8.self)
    }

    /// Removes the older half of a file that is too long.
    private static func shorten(_ path: String) throws {
        guard let status = FileStatus(path), status.size > limit else { return }
        let lines = try text(path).split(separator: "\n")
        let kept = lines.suffix(lines.count / 2).map { $0 + "\n" }.joined()
        try AtomicFile(path, .replacing).write(Array(kept.utf8))
    }
}
