// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A folder that is removed with what is in it.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/ykit-tests-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/nonexistent"
    }

    deinit {
        for name in names { unlink(path + "/" + name) }
        rmdir(path)
    }

    var names: [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { place in
                place.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    func mode(_ name: String) -> UInt32? {
        var status = stat()
        return lstat(path + "/" + name, &status) == 0 ? status.st_mode & 0o7777 : nil
    }
}
