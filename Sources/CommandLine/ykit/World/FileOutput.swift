// SPDX-License-Identifier: Apache-2.0

/// Where a verb puts what it made: a file, or standard output for `-`. Made before the key is asked for anything, it
/// finds out whether that will do.
final class FileOutput {
    private let path: String
    private let isText: Bool?
    private let file: SettledFile?
    /// Whether standard output is a terminal that shows bytes as they are.
    private let isShown: Bool

    /// Settles where bytes go, which are text or not, as far as that is known by now.
    init(_ path: String, isText: Bool? = nil, _ world: World) throws(Explanation) {
        self.path = path
        self.isText = isText
        isShown = path == "-" && world.terminal.isOutputTerminal && !world.options.json
        if isShown, isText == false { throw Self.unshown }
        file = path == "-" ? nil : try SettledFile(path, .replacing)
    }

    /// Puts bytes there: into the file, else into the answer, where JSON has its own way to carry them. Bytes that
    /// are no text are not thrown at a terminal.
    func put(_ bytes: [UInt8], isText: Bool? = nil, _ answer: inout Answer) throws(Explanation) {
        if let file { return try file.finish(bytes) }
        if isShown, isText ?? self.isText == false { throw Self.unshown }
        answer.raw = bytes
    }

    /// Puts bytes there that the key gives only once. Should the file take them no more, the verb fails and shows them
    /// all the same, where they are text.
    func keep(_ bytes: [UInt8], _ answer: inout Answer, orElse hint: String? = nil) {
        do throws(Explanation) { try put(bytes, &answer) } catch {
            answer.failure = error
            answer.failure?.hint = hint
            answer.lines = []
            if isText ?? false { answer.raw = bytes }
        }
    }

    /// Why bytes are not written to a terminal.
    static var unshown: Explanation {
        .usage("bytes that are not text are not shown on a terminal", hint: "name a file, or redirect the output")
    }
}
