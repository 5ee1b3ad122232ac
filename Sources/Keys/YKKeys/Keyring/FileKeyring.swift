// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
import YKHardware
public import YKTransport
import YKWire

/// A keyring in a file that only its owner may read, encrypted with a second file and the machine id.
///
/// This protects keys in a copy of one of the files, in backups that are searched, and from other users. It does not
/// protect them from a program that runs as the same user, which can read both files.
public struct FileKeyring: Keyring {
    /// The folder that holds both files.
    public let folder: String
    private let cancellation: Cancellation
    private let keys: SharedFile
    private let wrapping: SharedFile

    private static let limit = 64 << 20

    /// Creates a keyring in a folder, which is created when a key is remembered.
    ///
    /// - Parameter cancellation: Ends the wait for another program that is changing the keyring.
    public init(folder: String, cancellation: Cancellation = Cancellation()) {
        self.folder = folder
        self.cancellation = cancellation
        keys = Self.file(folder + "/oath-keys.json")
        wrapping = Self.file(folder + "/wrapping-key")
    }

    private static func file(_ path: String) -> SharedFile {
        SharedFile(path, limit: limit, patience: .zero, followsLinks: true)
    }

    /// The keyring below XDG_STATE_HOME, or below HOME.
    ///
    /// - Throws: `noFolder`.
    public static func standard(cancellation: Cancellation = Cancellation()) throws(KeyringError) -> FileKeyring {
        try FileKeyring(cancellation) { ProcessVariables[$0] }
    }

    /// The same by other variables than those of the process.
    package init(_ cancellation: Cancellation, _ variable: (String) -> String?) throws(KeyringError) {
        guard let folder = UserFolder.state.path(variable) else {
            throw .noFolder(variable: UserFolder.state.variable)
        }
        self.init(folder: folder, cancellation: cancellation)
    }

    /// The location, as shown to the user.
    public var place: String { keys.path }

    /// Returns the remembered key of a device, or `nil`.
    public func key(for device: String) throws(KeyringError) -> Secret? {
        guard let text = try entries()?[device]?.string else { return nil }
        let key = try wrappingKey()
        guard let sealed = try? Base64.decode(text) else { return nil }
        do { return try AESGCM.open(sealed, key: key, context: Array(device.utf8)) } catch { return nil }
    }

    /// Remembers a key, replacing one of the same device.
    public func remember(_ key: borrowing Secret, for device: String) throws(KeyringError) {
        do { try UserFolder.makeWritable(folder) } catch { throw .file(error) }
        // A closure cannot capture a borrowed secret.
        var bytes = key.copyBytes()
        defer { Secret.wipe(&bytes) }
        try locked { () throws(KeyringError) in
            var entries = try entries() ?? JSONValue.Object()
            let wrappingKey = try wrappingKey()
            do throws(CryptoFault) {
                let sealed = try AESGCM.seal(Secret(bytes), key: wrappingKey, context: Array(device.utf8))
                entries[device] = .string(Base64.encodeURL(sealed))
            } catch { throw .crypto(error) }
            try write(entries)
        }
    }

    /// Forgets a key; returns whether there was one.
    public func forget(_ device: String) throws(KeyringError) -> Bool {
        guard try entries() != nil else { return false }
        return try locked { () throws(KeyringError) in
            guard var entries = try entries(), entries[device] != nil else { return false }
            entries[device] = nil
            try write(entries)
            return true
        }
    }

    /// Forgets all keys; returns their number, if known.
    public func forgetAll() throws(KeyringError) -> Int? {
        guard try entries() != nil else { return 0 }
        return try locked { () throws(KeyringError) in
            let count = try entries()?.members.count ?? 0
            if count > 0 { try write(JSONValue.Object()) }
            return count
        }
    }

    private func locked<Value>(_ body: () throws(KeyringError) -> Value) throws(KeyringError) -> Value {
        try UserFolder.locked(folder, cancellation, explainedBy: { KeyringError.file($0) }, body)
    }

    /// The remembered keys; `nil` without a file.
    private func entries() throws(KeyringError) -> JSONValue.Object? {
        guard let bytes = try read(keys) else { return nil }
        guard let keys = (try? JSONValue(parsing: bytes))?["keys"]?.object else { throw .malformed(path: keys.path) }
        return keys
    }

    private func write(_ entries: JSONValue.Object) throws(KeyringError) {
        let file: JSONValue = ["version": 1, "keys": .object(entries)]
        try replace(keys, Array((file.prettyText + "\n").utf8))
    }

    /// The encryption key: HMAC-SHA-256 over the machine id and the program's name, keyed with the second file.
    private func wrappingKey() throws(KeyringError) -> Secret {
        var bytes = try read(wrapping) ?? []
        defer { Secret.wipe(&bytes) }
        if bytes.isEmpty, try read(wrapping) == nil {
            bytes = SystemRandom().draw(32, secret: true)
            try replace(wrapping, bytes)
        }
        guard bytes.count == 32 else {
            throw .malformedKey(path: wrapping.path, bytes: bytes.count, keyring: keys.path)
        }
        let machine = (try? Self.file("/etc/machine-id").read()) ?? []
        var key = HashAlgorithm.sha256.hmac(key: Secret(bytes), Array("ykit oath ".utf8) + machine)
        defer { Secret.wipe(&key) }
        return Secret(key)
    }

    /// Reads a file, `nil` without one; refuses one that others may read or write, since it protects nothing.
    private func read(_ file: SharedFile) throws(KeyringError) -> [UInt8]? {
        if file.isExposed { throw .exposed(path: file.path) }
        do { return try file.read() } catch { throw Self.lifted(error) }
    }

    private func replace(_ file: SharedFile, _ bytes: [UInt8]) throws(KeyringError) {
        do { try file.replace(with: bytes) } catch { throw Self.lifted(error) }
    }

    private static func lifted(_ error: SharedFileError) -> KeyringError {
        switch error {
        case .unreadable(_, let failure), .unwritable(_, let failure): .file(failure)
        case .tooLarge(let path, let limit): .tooLarge(path: path, limit: limit)
        case .inUse: .refused
        }
    }
}
