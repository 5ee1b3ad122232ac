// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKCrypto
import YKHardware
import YKTransport

/// File access in bytes, with errors explained.
package enum Files {
    /// The maximum size of a file that is read.
    package static let limit = 64 << 20

    /// Whether a path leads to a regular file.
    package static func isFile(_ path: String) -> Bool { FileStatus(path)?.isRegular ?? false }

    /// Whether a path leads to a regular file that can be opened.
    package static func isReadable(_ path: String) -> Bool { isFile(path) && access(path, R_OK) == 0 }

    /// Refuses `-` as the name of a file to write.
    package static func refuseStandardOutput(_ path: String?) throws(Explanation) {
        guard path == "-" else { return }
        throw .usage("this must be a file, not standard output", hint: "use ./- for a file of that name")
    }

    /// Refuses the name of a file to write that no file can have: an empty one, which a shell makes of an unset variable,
    /// or one that is too long.
    static func checkName(_ path: String) throws(Explanation) {
        guard !path.isEmpty else { throw .usage("the name of the file to write must not be empty") }
        var info = stat()
        guard lstat(path, &info) == 0 || errno != ENAMETOOLONG else { throw failure("cannot create", path) }
    }

    /// Returns the absolute path.
    package static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&folder, folder.count) != nil else { return path }
        return folder.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" } + "/" + path
    }

    /// Checks that a file can be created: its name is free, and its folder exists and may be written.
    package static func checkNew(_ path: String) throws(Explanation) {
        try checkName(path)
        if isTaken(path) { throw .exists(path) }
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        guard access(folder, W_OK) == 0 else { throw failure("cannot create", path) }
    }

    /// Whether a name is in use, even by a symbolic link that leads nowhere.
    package static func isTaken(_ path: String) -> Bool {
        var info = stat()
        return lstat(path, &info) == 0
    }

    /// Whether users other than the owner may read or change a regular file.
    package static func isOpenToOthers(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_mode & 0o077 != 0
    }

    /// Reads a file, or standard input for `-`.
    package static func read(_ path: String) throws(Explanation) -> [UInt8] {
        try with(path) { descriptor throws(Explanation) in try read(descriptor: descriptor, path) }
    }

    /// Reads the start of a file or device: at most `count` bytes.
    package static func read(_ path: String, upTo count: Int) throws(Explanation) -> [UInt8] {
        return try with(path) { descriptor throws(Explanation) in
            var bytes: [UInt8] = []
            while bytes.count < count {
                let next = try piece(descriptor, path)
                if next.isEmpty { break }
                bytes += next
            }
            return Array(bytes.prefix(count))
        }
    }

    /// Reads until the end.
    package static func read(descriptor: Int32, _ path: String) throws(Explanation) -> [UInt8] {
        var bytes: [UInt8] = []
        try limitedPieces(descriptor, path) { bytes += $0 }
        return bytes
    }

    /// Reads a file, or standard input for `-`, piece by piece.
    package static func read(
        _ path: String, _ body: (ArraySlice<UInt8>) throws(Explanation) -> Void
    ) throws(Explanation) {
        try with(path) { descriptor throws(Explanation) in try limitedPieces(descriptor, path, body) }
    }

    private static func limitedPieces(
        _ descriptor: Int32, _ path: String, _ body: (ArraySlice<UInt8>) throws(Explanation) -> Void
    ) throws(Explanation) {
        var count = 0
        try pieces(descriptor, path) { piece throws(Explanation) in
            count += piece.count
            guard count <= limit else { throw .malformed("\(path.fileName) is larger than \(limit >> 20) MiB") }
            try body(piece)
        }
    }

    /// Hashes a file of any size, or standard input for `-`.
    package static func hash(_ path: String, _ algorithm: HashAlgorithm) throws(Explanation) -> RunningHash {
        var hash = RunningHash(algorithm)
        try with(path) { descriptor throws(Explanation) in
            try pieces(descriptor, path) { piece in piece.withUnsafeBytes { hash.update($0) } }
        }
        return hash
    }

    private static func with<Value>(
        _ path: String, _ body: (Int32) throws(Explanation) -> Value
    ) throws(Explanation) -> Value {
        if path == "-" {
            try StandardInput.beginFile()
            return try body(0)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open", path) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private static func pieces(
        _ descriptor: Int32, _ path: String, _ body: (ArraySlice<UInt8>) throws(Explanation) -> Void
    ) throws(Explanation) {
        while true {
            let next = try piece(descriptor, path)
            if next.isEmpty { return }
            try body(next[...])
        }
    }

    /// Reads the next piece; empty at the end.
    private static func piece(_ descriptor: Int32, _ path: String) throws(Explanation) -> [UInt8] {
        while true {
            var result = 0
            let piece = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                result = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
                count = max(0, result)
            }
            if result < 0, errno == EINTR {
                if Interruption.happened { throw Explanation.interrupted }
                continue
            }
            guard result >= 0 else {
                if errno == EISDIR { throw .malformed("\(path.fileName) is a folder") }
                throw failure("cannot read", path)
            }
            return piece
        }
    }

    /// Writes a file, readable by the owner only, atomically.
    package static func write(_ bytes: [UInt8], to path: String) throws(Explanation) {
        try AtomicFile(path, .replacing).finish(bytes)
    }

    /// Creates a new file, readable by the owner only, atomically.
    package static func create(_ bytes: [UInt8], at path: String) throws(Explanation) {
        try AtomicFile(path, .new).finish(bytes)
    }

    /// Removes a file, and a symbolic link that leads to it.
    package static func remove(_ path: String) {
        if let target = try? LinkedFile.target(of: path), target != path { unlink(target) }
        unlink(path)
    }

    /// Explains `errno` after an operation on a file.
    package static func failure(_ doing: String, _ path: String) -> Explanation {
        let number = errno
        if [ENOENT, ENOTDIR, ENAMETOOLONG].contains(number), path.isKeyMaterial {
            return secretInsteadOfFile
        }
        return .file(number, "\(doing) \(path.pathInWords): \(String(cString: strerror(number)))")
    }

    /// The error for a secret where the path of a file is expected.
    package static var secretInsteadOfFile: Explanation {
        .usage(
            "a file is expected here, not the secret itself",
            hint: "put the secret into a file that only you can read, and give its path")
    }
}

/// A file that is opened before its content exists, so that a permanent change to a key is made only if the result can
/// be saved: a name that is taken and a full disk are detected first. The file appears complete or not at all.
///
/// Through a symbolic link, the file that it leads to is replaced.
///
/// If the path leads to something other than a regular file, such as a pipe, the bytes are written to it.
package final class AtomicFile {
    /// What may exist at the path.
    package enum Manner {
        /// Nothing may exist, neither at the beginning nor at the end.
        case new
        /// A regular file may exist, and is replaced at the end.
        case replacing
    }

    /// The free space that the disk must have for content that does not exist yet, in bytes.
    private static let room = 16 << 10

    private let path: String
    private let manner: Manner
    /// Removed if nothing is written; `nil` for a pipe, a device or a descriptor.
    private var file: NewFile?
    private let pipe: Int32

    /// Opens the file.
    ///
    /// - Parameter isSecret: Whether only the owner may read the file (mode 0600) instead of everyone (0644).
    package init(_ path: String, _ manner: Manner, isSecret: Bool = true) throws(Explanation) {
        try Files.refuseStandardOutput(path)
        try Files.checkName(path)
        (self.path, self.manner) = (path, manner)
        let mode: UInt32 = isSecret ? 0o600 : 0o644
        if let descriptor = Self.descriptor(path) {
            pipe = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else if FileStatus(path)?.isRegular == false {
            pipe = open(path, O_WRONLY | O_CLOEXEC)
            guard pipe >= 0 else { throw Files.failure("cannot open", path) }
        } else {
            pipe = -1
            do throws(FileFailure) {
                if manner == .new, Files.isTaken(path) { throw FileFailure(.create, path, EEXIST) }
                let opened = try NewFile(beside: manner == .new ? path : LinkedFile.target(of: path), mode: mode)
                try opened.reserve(Self.room)
                file = consume opened
            } catch { throw error.explanation }
        }
    }

    /// The descriptor that a path such as /dev/fd/3 names; whatever the caller opened there is written to.
    private static func descriptor(_ path: String) -> Int32? {
        for folder in ["/dev/fd/", "/proc/self/fd/"] where path.hasPrefix(folder) {
            return Int32(path.dropFirst(folder.count))
        }
        return nil
    }

    deinit { if pipe >= 0 { close(pipe) } }

    /// Writes the content, once.
    package func finish(_ bytes: [UInt8]) throws(Explanation) {
        try put(bytes)
        try keep()
    }

    /// Writes content that must be on disk before the next command to the key, under a temporary name. The file is
    /// removed unless ``keep()`` follows; if the program is killed before that, it stays. Once the key has accepted a
    /// secret, ``keep()`` is therefore the next call, whatever else fails.
    package func write(_ bytes: [UInt8]) throws(Explanation) {
        try put(bytes)
        do {
            try file?.sync()
            try file?.takeTemporaryName()
        } catch { throw error.explanation }
    }

    private func put(_ bytes: [UInt8]) throws(Explanation) {
        do {
            try NewFile.write(bytes, to: file?.descriptor ?? pipe, path)
            file?.truncate(to: bytes.count)
        } catch { throw error.explanation }
    }

    /// Gives the file its final name. Its content is never lost: if it cannot get that name, it keeps a temporary one.
    ///
    /// - Throws: `file-exists` if another program took the name meanwhile, or why the name cannot be given; the hint
    ///   names the file with the content.
    package func keep() throws(Explanation) {
        let problem: FileFailure
        do throws(FileFailure) {
            guard manner == .new else {
                try file?.replace()
                return
            }
            guard try file?.takeFree() == false else { return }
            problem = FileFailure(.create, path, EEXIST)
        } catch { problem = error }
        do { try file?.keepTemporaryName() } catch { throw problem.explanation }
        var failure = problem.explanation
        let why = problem.number == EEXIST ? "another program created it just now; " : ""
        failure.hint = "\(why)the content is in \(file?.path.printable ?? "")"
        throw failure
    }
}
