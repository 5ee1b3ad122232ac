// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKHardware
import YKTransport

/// Files as bytes, with failures in words.
enum Files {
    /// The most that is read from a file.
    static let limit = 64 << 20

    /// The number of a failure for lack of rights.
    static let accessDenied = EACCES

    /// Whether a path leads to a plain file.
    static func isFile(_ path: String) -> Bool { FileStatus(path)?.isRegular ?? false }

    /// The path from the root of the file system.
    static func absolute(_ path: String) -> String {
        if path.hasPrefix("/") { return path }
        var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard getcwd(&folder, folder.count) != nil else { return path }
        return folder.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" } + "/" + path
    }

    /// Whether users besides the owner may read or change a plain file.
    static func isOpenToOthers(_ path: String) -> Bool {
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFREG && info.st_mode & 0o077 != 0
    }

    /// Makes a folder and those above it, for their owner alone; what cannot be made shows when something is written.
    static func makeFolder(_ folder: String) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o700)
        }
    }

    /// Reads a file, or standard input for `-`.
    static func read(_ path: String) throws(Explanation) -> [UInt8] {
        try with(path) { descriptor throws(Explanation) in try read(descriptor: descriptor, path) }
    }

    /// Reads until the end.
    static func read(descriptor: Int32, _ path: String) throws(Explanation) -> [UInt8] {
        var bytes: [UInt8] = []
        try pieces(descriptor, path) { piece throws(Explanation) in
            bytes += piece
            guard bytes.count <= limit else { throw .usage("\(path) is larger than \(limit >> 20) MiB") }
        }
        return bytes
    }

    /// The digest of a file of any size, or of standard input for `-`.
    static func hash(_ path: String, _ algorithm: HashAlgorithm) throws(Explanation) -> [UInt8] {
        var hash = RunningHash(algorithm)
        try with(path) { descriptor throws(Explanation) in
            try pieces(descriptor, path) { piece in piece.withUnsafeBytes { hash.update($0) } }
        }
        return hash.digest
    }

    private static func with<Value>(
        _ path: String, _ body: (Int32) throws(Explanation) -> Value
    ) throws(Explanation) -> Value {
        if path == "-" { return try body(0) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("cannot open", path) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    private static func pieces(
        _ descriptor: Int32, _ path: String, _ body: (ArraySlice<UInt8>) throws(Explanation) -> Void
    ) throws(Explanation) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR {
                if Interruption.happened { throw Explain.interrupted }
                continue
            }
            guard count >= 0 else { throw failure("cannot read", path) }
            if count == 0 { return }
            try body(buffer.prefix(count))
        }
    }

    /// Writes a file that only its owner may read, complete or not at all.
    static func write(_ bytes: [UInt8], to path: String) throws(Explanation) {
        try SettledFile(path, .replacing).finish(bytes)
    }

    /// Writes a new file that only its owner may read, complete or not at all.
    static func create(_ bytes: [UInt8], at path: String) throws(Explanation) {
        try SettledFile(path, .new).finish(bytes)
    }

    /// Puts bytes that a key makes only once into a new file, where their own place did not take them.
    ///
    /// - Returns: The file, in the folder for temporary files or in the current one; `nil` when neither takes it.
    static func rescue(_ bytes: [UInt8]) -> String? {
        for folder in [Variables["TMPDIR"] ?? "/tmp", "."] {
            for attempt in 0..<100 {
                let path = "\(folder)/ykit-result-\(getpid())-\(attempt)"
                do throws(Explanation) {
                    try create(bytes, at: path)
                    return path
                } catch {
                    guard error.code == "file-exists" else { break }
                }
            }
        }
        return nil
    }

    /// What `errno` says of a file.
    static func failure(_ doing: String, _ path: String) -> Explanation {
        failure(errno, "\(doing) \(path): \(String(cString: strerror(errno)))")
    }

    /// Why a file could not be written.
    static func explained(_ failure: FileFailure) -> Explanation {
        failure.number == EEXIST ? exists(failure.path) : Self.failure(failure.number, "\(failure)")
    }

    private static func failure(_ number: Int32, _ text: String) -> Explanation {
        let exit: ExitStatus =
            number == EACCES || number == EPERM || number == EROFS
            ? .permission : number == ENOENT || number == ENOTDIR ? .notFound : .failed
        let code = number == ENOENT || number == ENOTDIR ? "no-such-file" : "file"
        return Explanation(code, exit, text)
    }

    /// A new file has the name of one that is there.
    static func exists(_ path: String, orElse other: String? = nil) -> Explanation {
        Explanation(
            "file-exists", .policy, "\(path.printable) already exists",
            hint: "choose another name" + (other.map { ", or \($0)" } ?? ""))
    }
}
