// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKTransport
import YKWire

/// A file that only its owner may read, its keys encrypted under a second file and the identity of this machine.
///
/// That keeps a key out of a copy of one file, out of a search through a backup, and away from other users. It does not
/// keep it from a program that runs as the same user: such a program can read both files.
struct FileKeyring: Keyring {
    /// The folder of both files.
    let folder: String

    /// Under XDG_STATE_HOME.
    static var standard: FileKeyring {
        let state = Variables["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        return FileKeyring(folder: (state ?? (Variables["HOME"] ?? "") + "/.local/state") + "/ykit")
    }

    var place: String { path }
    private var path: String { folder + "/oath-keys.json" }
    private var wrappingPath: String { folder + "/wrapping-key" }

    func key(for device: String) throws(Explanation) -> Secret? {
        guard let text = try entries()[device]?.string else { return nil }
        do {
            return try AESGCM.open(try Base64.decode(text), key: try wrappingKey(), context: Array(device.utf8))
        } catch let error as Explanation {
            throw error
        } catch {
            return nil
        }
    }

    func remember(_ key: borrowing Secret, for device: String) throws(Explanation) {
        try makeFolder()
        var entries = try entries()
        do {
            let sealed = try AESGCM.seal(key, key: try wrappingKey(), context: Array(device.utf8))
            entries[device] = .string(Base64.encodeURL(sealed))
        } catch let error as Explanation {
            throw error
        } catch {
            throw Explanation("crypto", .failed, "\(error)")
        }
        try write(entries)
    }

    func forget(_ device: String) throws(Explanation) -> Bool {
        var entries = try entries()
        guard entries[device] != nil else { return false }
        entries[device] = nil
        try write(entries)
        return true
    }

    func forgetAll() throws(Explanation) -> Int? {
        let count = try entries().members.count
        if count > 0 { try write(JSON.Object()) }
        return count
    }

    private func entries() throws(Explanation) -> JSON.Object {
        guard access(path, F_OK) == 0 else { return JSON.Object() }
        let bytes = try Files.read(path)
        guard let keys = (try? JSON(parsing: bytes))?["keys"]?.object else {
            throw Explanation(
                "keyring", .failed, "\(path) is not a file of remembered passwords", hint: "remove it and remember anew"
            )
        }
        return keys
    }

    private func write(_ entries: JSON.Object) throws(Explanation) {
        let file: JSON = ["version": 1, "keys": .object(entries)]
        let text = file.prettyText + "\n"
        try Files.write(Array(text.utf8), to: path)
    }

    /// The encryption key: HMAC-SHA-256 of the machine's id and this program's name under the second file.
    private func wrappingKey() throws(Explanation) -> Secret {
        if access(wrappingPath, F_OK) != 0 {
            var fresh = SystemRandom().draw(32, secret: true)
            defer { Secret.wipe(&fresh) }
            try Files.write(fresh, to: wrappingPath)
        }
        var bytes = try Files.read(wrappingPath)
        defer { Secret.wipe(&bytes) }
        let machine = (try? Files.read("/etc/machine-id")) ?? []
        var key = HashAlgorithm.sha256.hmac(key: Secret(bytes), Array("ykit oath ".utf8) + machine)
        defer { Secret.wipe(&key) }
        return Secret(key)
    }

    private func makeFolder() throws(Explanation) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o700)
        }
        guard access(folder, W_OK) == 0 else {
            throw Explanation("file", .permission, "cannot write in \(folder): \(System.failure)")
        }
    }
}
