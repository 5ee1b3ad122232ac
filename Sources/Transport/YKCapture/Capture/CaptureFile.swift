// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A capture on disk while it grows: mode 0600, never through a symbolic link, every event flushed as it happens.
///
/// A change of the header replaces the file at once by a complete new one.
final class CaptureFile {
    private let path: String
    private var file: NewFile
    private var lines: [String] = []
    /// How many bytes the complete lines have.
    private var size = 0

    /// Creates the file; an existing one is refused, nothing is overwritten.
    init(creating path: String, header: String) throws(LinkError) {
        self.path = path
        do { file = try NewFile(creating: path) } catch { throw error.asLinkError }
        try append(header)
    }

    /// Adds a line; one that the disk has no room for is taken off again, so that the file stays a capture.
    func append(_ line: String) throws(LinkError) {
        let bytes = Array((line + "\n").utf8)
        do { try file.append(bytes) } catch {
            file.truncate(to: size)
            throw error.asLinkError
        }
        lines.append(line)
        size += bytes.count
    }

    /// Replaces the first line: the whole file is written anew beside the old one and takes its name.
    func replaceHeader(_ header: String) throws(LinkError) {
        lines[0] = header
        do {
            var fresh = try NewFile(beside: path)
            let bytes = Array((lines.joined(separator: "\n") + "\n").utf8)
            try fresh.append(bytes)
            try fresh.replace(path)
            file = fresh
            size = bytes.count
        } catch { throw error.asLinkError }
    }
}

extension FileFailure {
    fileprivate var asLinkError: LinkError { .capture(description) }
}
