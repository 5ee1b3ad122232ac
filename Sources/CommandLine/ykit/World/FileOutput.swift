// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Whether a file that exists may be replaced by a result; it is refused otherwise.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Replace the output file if it exists.")
    var force = false
}

/// Where a verb puts its result: a new file, or standard output for `-`. It is opened before the key is asked for
/// anything, so that nothing is made that cannot be written down.
///
/// The same rule holds for every verb: a file that exists is replaced only with `--force`, what is secret gets mode
/// 0600, and certificates, public keys, signatures and requests 0644.
final class FileOutput {
    private let path: String
    private let isText: Bool?
    private let file: SettledFile?
    /// Whether standard output is a terminal that shows bytes as they are.
    private let isShown: Bool

    /// Settles where a result goes.
    ///
    /// - Parameters:
    ///   - isText: Whether it is text, as far as that is known by now.
    ///   - isSecret: Whether only the owner of the file may read it.
    ///   - force: Whether a file that exists is replaced.
    init(
        _ path: String, isText: Bool? = nil, isSecret: Bool = false, force: Bool, _ world: World
    ) throws(Explanation) {
        self.path = path
        self.isText = isText
        isShown = path == "-" && world.terminal.isOutputTerminal && !world.options.json
        if isShown, isText == false { throw Self.unshown }
        do throws(Explanation) {
            file = path == "-" ? nil : try SettledFile(path, force ? .replacing : .new, isSecret: isSecret)
        } catch { throw error.code == "file-exists" ? Files.exists(path, orElse: "replace it with --force") : error }
    }

    /// Puts bytes there: into the file, else into the answer, where JSON has its own way to carry them. Bytes that
    /// are no text are not thrown at a terminal.
    func put(_ bytes: [UInt8], isText: Bool? = nil, _ answer: inout Answer) throws(Explanation) {
        if let file { return try file.finish(bytes) }
        if isShown, isText ?? self.isText == false { throw Self.unshown }
        answer.raw = bytes
    }

    /// Puts bytes there that the key gives only once. Should the file take them no more, the verb fails and shows them
    /// all the same where they are text, and puts them into a file for temporary files otherwise.
    func keep(_ bytes: [UInt8], _ answer: inout Answer, orElse hint: String? = nil) {
        answer.isMadeOnce = true
        do throws(Explanation) { try put(bytes, &answer) } catch {
            answer.failure = error
            answer.failure?.hint = hint
            answer.lines = []
            if isText ?? false {
                answer.raw = bytes
            } else if let rescued = Files.rescue(bytes) {
                answer.lines = ["the result is in \(rescued)"]
            }
        }
    }

    /// Why bytes are not written to a terminal.
    static var unshown: Explanation {
        .usage("bytes that are not text are not shown on a terminal", hint: "name a file, or redirect the output")
    }
}
