// SPDX-License-Identifier: Apache-2.0

import Arguments

/// Whether a result may replace an existing file.
struct OutputOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Replace the output file if it exists.") var force = false
}

/// The destination of a verb's result: a new file, or standard output for `-`. It is opened before the first command to
/// the key, so that the key creates nothing that cannot be saved.
///
/// Every verb follows the same rules: an existing file is replaced only with `--force`; secrets get mode 0600;
/// certificates, public keys, signatures and requests get 0644.
final class FileOutput {
    private let path: String
    private let isText: Bool?
    private let file: SettledFile?
    /// Whether standard output is a terminal that shows the bytes themselves.
    private let isShown: Bool

    /// Opens the destination of a result.
    ///
    /// - Parameters:
    ///   - isText: Whether the result is text, if known yet.
    ///   - isSecret: Whether only the owner may read the file.
    ///   - force: Whether an existing file is replaced.
    /// - Throws: `file-exists` for an existing file without `force`, or a usage error for binary output to a terminal.
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

    /// Writes bytes to the file, or else adds them to the answer, where JSON has its own encoding. Binary data is not
    /// written to a terminal.
    func put(_ bytes: [UInt8], isText: Bool? = nil, _ answer: inout Answer) throws(Explanation) {
        if let file { return try file.finish(bytes) }
        if isShown, isText ?? self.isText == false { throw Self.unshown }
        answer.raw = bytes
    }

    /// Writes bytes that the key returns only once. If the file cannot be written, the verb fails but still shows text;
    /// other bytes are saved in a temporary file.
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

    /// The error for binary output to a terminal.
    static var unshown: Explanation {
        .usage("bytes that are not text are not shown on a terminal", hint: "name a file, or redirect the output")
    }
}
