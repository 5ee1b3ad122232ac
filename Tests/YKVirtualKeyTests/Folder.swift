// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder of its own for a test, removed at the end.
final class Folder {
    let path: String

    init() {
        var template = Array("/tmp/ykit-vkey.XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? "/nonexistent"
        }
    }

    deinit {
        for name in names { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    subscript(name: String) -> String { "\(path)/\(name)" }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func write(_ text: String, _ name: String) {
        guard let file = fopen(self[name], "w") else { return }
        fputs(text, file)
        fclose(file)
    }

    func read(_ name: String) -> String { Self.text(of: self[name]) }

    static func text(of path: String) -> String {
        guard let file = fopen(path, "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }

    func mode(_ name: String) -> UInt32 {
        var info = stat()
        return lstat(self[name], &info) == 0 ? info.st_mode & 0o777 : 0
    }
}
