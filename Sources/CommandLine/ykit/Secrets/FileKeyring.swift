// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKCrypto
import YKTransport
import YKWire

/// A keyring in a file that only its owner may read, encrypted with a second file and the machine id.
///
/// This protects keys in a copy of one file, in backups that are searched, and from other users. It does not protect
/// them from a program that runs as the same user, which can read both files.
struct FileKeyring: Keyring {
    /// The folder that holds both files.
    let folder: String

    /// The keyring below XDG_STATE_HOME.
    static var standard: FileKeyring { get throws(Explanation) { FileKeyring(folder: try UserFolder.state.path()) } }

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
        try UserFolder.make(folder)
        let lock = try Files.lock(folder: folder)
        defer { close(lock) }
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
        guard access(path, F_OK) == 0 else { return false }
        let lock = try Files.lock(folder: folder)
        defer { close(lock) }
        var entries = try entries()
        guard entries[device] != nil else { return false }
        entries[device] = nil
        try write(entries)
        return true
    }

    func forgetAll() throws(Explanation) -> Int? {
        guard access(path, F_OK) == 0 else { return 0 }
        let lock = try Files.lock(folder: folder)
        defer { close(lock) }
        let count = try entries().members.count
        if count > 0 { try write(JSON.Object()) }
        return count
    }

    /// Refuses a file that others may read or write, since it no longer protects anything.
    private func checkMode(_ path: String) throws(Explanation) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & 0o077 != 0 else { return }
        throw Explanation(
            "file-mode", .policy, "other users may read or change \(path)",
            hint: "chmod 600 \(path); if others did, 'ykit oath access forget --all' and remember again")
    }

    private func entries() throws(Explanation) -> JSON.Object {
        guard access(path, F_OK) == 0 else { return JSON.Object() }
        try checkMode(path)
        let bytes = try Files.read(path)
        guard let keys = (try? JSON(parsing: bytes))?["keys"]?.object else {
            throw Explanation(
                "keyring", .failed, "\(path) is not a file of remembered passwords",
                hint: "remove it and remember again"
            )
        }
        return keys
    }

    private func write(_ entries: JSON.Object) throws(Explanation) {
        let file: JSON = ["version": 1, "keys": .object(entries)]
        let text = file.prettyText + "\n"
        try Files.write(Array(text.utf8), to: path)
    }

    /// The encryption key: HMAC-SHA-256 over the machine id and the program's name, keyed with the second file.
    private func wrappingKey() throws(Explanation) -> Secret {
        if access(wrappingPath, F_OK) != 0 {
            var fresh = SystemRandom().draw(32, secret: true)
            defer { Secret.wipe(&fresh) }
            try Files.write(fresh, to: wrappingPath)
        }
        try checkMode(wrappingPath)
        var bytes = try Files.read(wrappingPath)
        defer { Secret.wipe(&bytes) }
        guard bytes.count == 32 else {
            throw Explanation(
                "keyring", .failed, "\(wrappingPath) is not what ykit wrote: it has \(bytes.count) bytes, not 32",
                hint: "remove it and \(path), then remember the passwords again")
        }
        let machine = (try? Files.read("/etc/machine-id")) ?? []
        var key = HashAlgorithm.sha256.hmac(key: Secret(bytes), Array("ykit oath ".utf8) + machine)
        defer { Secret.wipe(&key) }
        return Secret(key)
    }
}

/// A folder for ykit's per-user files, by the XDG Base Directory Specification.
enum UserFolder {
    /// For what can be made again: counters, remembered passwords.
    case state
    /// For what is lost with it: stores of tokens and accounts.
    case data

    /// Its path, below the specification's variable or else below HOME.
    func path() throws(Explanation) -> String {
        let (variable, usual) =
            switch self {
            case .state: ("XDG_STATE_HOME", "/.local/state")
            case .data: ("XDG_DATA_HOME", "/.local/share")
            }
        if let folder = Variables[variable], folder.hasPrefix("/") { return folder + "/ykit" }
        guard let home = Variables["HOME"], home.hasPrefix("/") else {
            throw Explanation(
                "no-home", .failed, "neither HOME nor \(variable) names a folder to keep things in",
                hint: "set one of them to the path of a folder")
        }
        return home + usual + "/ykit"
    }

    /// Creates a folder and its parents.
    static func make(_ folder: String) throws(Explanation) {
        Files.makeFolder(folder)
        guard access(folder, W_OK) == 0 else {
            throw Explanation("file", .permission, "cannot write in \(folder): \(System.failure)")
        }
    }
}
