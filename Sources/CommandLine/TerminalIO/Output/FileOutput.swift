// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Whether a result may replace an existing file.
package struct OutputOptions: ParsableArguments {
    @Flag(["--force", "-f"], help: "Replace the output file if it exists.") package var force = false
}

/// The destination of a verb's result: a new file, or standard output for `-`. It is opened before the first command to
/// the key, so that the key creates nothing that cannot be saved.
///
/// Every verb follows the same rules: an existing file is replaced only with `--force`, and never if that option of the
/// verb has another meaning; secrets get mode 0600; certificates, public keys, signatures and requests get 0644.
package final class FileOutput {
    private let isText: Bool?
    private let file: AtomicFile?
    /// Whether standard output is a terminal that shows the bytes themselves.
    private let isShown: Bool

    /// Opens the destination of a result.
    ///
    /// - Parameters:
    ///   - isText: Whether the result is text, if known yet.
    ///   - isSecret: Whether only the owner may read the file.
    ///   - force: Whether an existing file is replaced.
    ///   - terminal: The terminal of standard output; `nil` if the result is one JSON object.
    /// - Throws: `file-exists` for an existing file without `force`, or a usage error for binary output to a terminal.
    package init(
        _ path: String, isText: Bool? = nil, isSecret: Bool = false, force: Bool, shownOn terminal: Terminal?
    ) throws(Explanation) {
        self.isText = isText
        isShown = path == "-" && terminal?.isOutputTerminal == true
        if isShown, isText == false { throw Self.unshown }
        file = path == "-" ? nil : try Self.open(path, isSecret, force)
    }

    /// Opens a file for a result that never goes to standard output: `-` is refused.
    ///
    /// - Parameters:
    ///   - isSecret: Whether only the owner may read the file.
    ///   - force: Whether an existing file is replaced; `nil` if `--force` of the verb has another meaning.
    /// - Throws: `file-exists` for an existing file without `force`.
    package init(file path: String, isSecret: Bool = true, force: Bool?) throws(Explanation) {
        (isText, isShown) = (nil, false)
        file = try Self.open(path, isSecret, force)
    }

    private static func open(_ path: String, _ isSecret: Bool, _ force: Bool?) throws(Explanation) -> AtomicFile {
        do throws(Explanation) {
            return try AtomicFile(path, force == true ? .replacing : .new, isSecret: isSecret)
        } catch {
            let isReplaceable = force == false && Files.isFile(path)
            throw isReplaceable ? Explanation.exists(path, orElse: "replace it with --force") : error
        }
    }

    /// Writes content that must be on disk before the next command to the key. The file is removed unless ``commit()``
    /// follows.
    package func prepare(_ bytes: [UInt8]) throws(Explanation) { try file?.write(bytes) }

    /// Gives the prepared file its name.
    package func commit() throws(Explanation) { try file?.keep() }

    /// Writes bytes to the file, or else adds them to the answer, where JSON has its own encoding. Binary data is not
    /// written to a terminal.
    package func put(_ bytes: [UInt8], isText: Bool? = nil, _ answer: inout Answer) throws(Explanation) {
        if let file { return try file.finish(bytes) }
        if isShown, isText ?? self.isText == false { throw Self.unshown }
        answer.raw = bytes
    }

    /// Writes the bytes that are reported about, and returns the outcome.
    package func put<Reported>(
        _ bytes: [UInt8], isText: Bool? = nil, of reported: Reported, _ line: String
    ) throws(Explanation) -> Outcome<Reported> {
        var outcome = Outcome(reported, line)
        try put(bytes, isText: isText, &outcome.answer)
        return outcome
    }

    /// Writes bytes that the key returns only once. If the file cannot be written, the verb fails but still shows text;
    /// other bytes are saved in a temporary file.
    package func keep(_ bytes: [UInt8], _ answer: inout Answer, orElse hint: String? = nil, _ terminal: Terminal) {
        answer.isMadeOnce = true
        do throws(Explanation) { try put(bytes, &answer) } catch {
            answer.failure = error
            answer.failure?.hint = hint
            answer.lines = []
            if isText ?? false {
                answer.raw = bytes
            } else if let rescued = terminal.rescue(bytes) {
                answer.lines = ["the result was written to \(rescued)"]
            }
        }
    }

    /// The error for binary output to a terminal.
    static var unshown: Explanation {
        .usage("refusing to print binary data to a terminal", hint: "give a file, or redirect the output")
    }
}
