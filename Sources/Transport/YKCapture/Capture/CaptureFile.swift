// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A capture being written to disk: mode 0600, never through a symbolic link, every event flushed as it happens.
///
/// The file gets its name once it has its header, so that a program that is killed leaves a valid capture or none.
/// To change the header, the file is replaced atomically by a complete new one.
final class CaptureFile {
    private let path: String
    private var file: NewFile
    private var lines: [String] = []
    /// The size of the complete lines, in bytes.
    private var size = 0

    /// Creates the file; fails if it exists, so nothing is overwritten.
    init(creating path: String, header: String) throws(LinkError) {
        self.path = path
        do {
            file = try NewFile(beside: path)
            let bytes = Array((header + "\n").utf8)
            try file.append(bytes)
            try file.take()
            (lines, size) = ([header], bytes.count)
        } catch { throw error.asLinkError }
    }

    /// Appends a line. If the disk is full, the partial line is removed again, so that the file remains a valid
    /// capture.
    func append(_ line: String) throws(LinkError) {
        let bytes = Array((line + "\n").utf8)
        do { try file.append(bytes) } catch {
            file.truncate(to: size)
            throw error.asLinkError
        }
        lines.append(line)
        size += bytes.count
    }

    /// Replaces the first line: writes a complete new file next to the old one and renames it.
    func replaceHeader(_ header: String) throws(LinkError) {
        lines[0] = header
        do {
            var fresh = try NewFile(beside: path)
            let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
            try fresh.append(bytes)
            try fresh.replace()
            file = fresh
            size = bytes.count
        } catch { throw error.asLinkError }
    }
}

extension FileFailure {
    fileprivate var asLinkError: LinkError { .capture(description) }
}
