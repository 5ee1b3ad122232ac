// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A capture on disk while it grows: mode 0600, never through a symbolic link, every event flushed as it happens.
///
/// A change of the header replaces the file at once by a complete new one.
final class CaptureFile {
    private let path: String
    private var file: NewFile
    private var lines: [String] = []

    /// Creates the file; an existing one is refused, nothing is overwritten.
    init(creating path: String, header: String) throws(LinkError) {
        self.path = path
        do { file = try NewFile(creating: path) } catch { throw error.asLinkError }
        try append(header)
    }

    func append(_ line: String) throws(LinkError) {
        lines.append(line)
        do { try file.append(Array((line + "\n").utf8)) } catch { throw error.asLinkError }
    }

    /// Replaces the first line: the whole file is written anew beside the old one and takes its name.
    func replaceHeader(_ header: String) throws(LinkError) {
        lines[0] = header
        do {
            var fresh = try NewFile(beside: path)
            try fresh.append(Array((lines.joined(separator: "\n") + "\n").utf8))
            try fresh.replace(path)
            file = fresh
        } catch { throw error.asLinkError }
    }
}

extension FileFailure {
    fileprivate var asLinkError: LinkError { .capture(description) }
}
