// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A capture on disk while it grows: mode 0600, never through a symbolic link, every event flushed as it happens.
///
/// A change of the header replaces the file at once by a complete new one.
final class CaptureFile {
    private let path: String
    private var descriptor: Int32
    private var lines: [String] = []

    /// Creates the file; an existing one is refused, nothing is overwritten.
    init(creating path: String, header: String) throws(LinkError) {
        self.path = path
        descriptor = try Self.create(path)
        try append(header)
    }

    deinit { close(descriptor) }

    func append(_ line: String) throws(LinkError) {
        lines.append(line)
        try Self.write(line + "\n", to: descriptor, path)
    }

    /// Replaces the first line: the whole file is written anew beside the old one and takes its name.
    func replaceHeader(_ header: String) throws(LinkError) {
        lines[0] = header
        let (temporary, fresh) = try Self.createBeside(path)
        do throws(LinkError) {
            try Self.write(lines.joined(separator: "\n") + "\n", to: fresh, temporary)
            guard rename(temporary, path) == 0 else { throw Self.failure("cannot replace", path) }
        } catch {
            close(fresh)
            unlink(temporary)
            throw error
        }
        close(descriptor)
        descriptor = fresh
    }

    private static func create(_ path: String) throws(LinkError) -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw failure("cannot create", path) }
        return descriptor
    }

    /// Creates a file with a name of its own in the same folder; nothing that is there already is touched.
    private static func createBeside(_ path: String) throws(LinkError) -> (String, Int32) {
        for attempt in 0..<100 {
            let temporary = "\(path).new-\(getpid())-\(attempt)"
            do throws(LinkError) { return (temporary, try create(temporary)) } catch {
                guard errno == EEXIST else { throw error }
            }
        }
        throw .capture("cannot create a file beside \(path): every name is taken")
    }

    private static func write(_ text: String, to descriptor: Int32, _ path: String) throws(LinkError) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("cannot write", path) }
            rest = rest.dropFirst(count)
        }
    }

    private static func failure(_ doing: String, _ path: String) -> LinkError {
        .capture("\(doing) \(path): \(String(cString: strerror(errno)))")
    }
}
