// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKHardware

/// Where a verb puts what it made: a file, or standard output for `-`.
struct FileOutput {
    /// The path; `-` for standard output.
    let path: String

    /// Puts bytes there: into the file, else into the answer, where JSON has its own way to carry them. Bytes that
    /// are no text are not thrown at a terminal.
    func put(_ bytes: [UInt8], isText: Bool, _ answer: inout Answer, _ world: World) throws(Explanation) {
        guard path == "-" else { return try Files.put(bytes, at: path) }
        guard isText || !world.terminal.isOutputTerminal || world.options.json else {
            throw Explanation.usage(
                "bytes that are no text are not shown on a terminal", hint: "name a file, or redirect the output")
        }
        answer.raw = bytes
    }

    /// The path as a member of an answer.
    var isFile: Bool { path != "-" }
}

extension Files {
    /// Writes a file, complete or not at all; what is there and no plain file, such as a pipe, is written to.
    static func put(_ bytes: [UInt8], at path: String) throws(Explanation) {
        guard FileStatus(path)?.isRegular == false else { return try write(bytes, to: path) }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Explanation("file", .failed, "cannot open \(path): \(System.failure)")
        }
        Terminal.write(bytes, to: descriptor)
        close(descriptor)
    }
}
