// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// A store of remembered access keys, by device id.
protocol Keyring {
    /// Returns the remembered key of a device, or `nil`.
    func key(for device: String) throws(Explanation) -> Secret?
    /// Remembers a key.
    func remember(_ key: borrowing Secret, for device: String) throws(Explanation)
    /// Forgets a key; returns whether there was one.
    func forget(_ device: String) throws(Explanation) -> Bool
    /// Forgets all keys; returns their number, if known.
    func forgetAll() throws(Explanation) -> Int?
    /// The location, as shown to people.
    var place: String { get }
}

extension Keyring {
    /// Whether the key of a device is remembered.
    func holds(_ device: String) throws(Explanation) -> Bool {
        switch try key(for: device) {
        case .some: true
        case .none: false
        }
    }
}

/// The keyring of this computer.
enum Keyrings {
    /// Returns the Secret Service of the desktop session if available, or else a file; `YKIT_KEYRING` overrides the
    /// choice. A replay reads and stores nothing, so that it has no effect on this computer.
    static func standard(in world: World) throws(Explanation) -> any Keyring {
        if world.options.replay != nil { return NoKeyring() }
        switch Variables["YKIT_KEYRING"] ?? "" {
        case "":
            if let service = SecretService() { return service }
            return try FileKeyring.standard
        case "file": return try FileKeyring.standard
        case "secret-service":
            return try secretService(or: "YKIT_KEYRING=file")
        case let other: throw .usage("YKIT_KEYRING is '\(other)', expected file or secret-service")
        }
    }

    /// Returns the Secret Service of the desktop session.
    ///
    /// - Parameter way: What to do without one, for the hint.
    static func secretService(or way: String) throws(Explanation) -> SecretService {
        if let service = SecretService() { return service }
        throw Explanation(
            "no-secret-service", .failed, "there is no desktop session with a Secret Service, or no secret-tool",
            hint: "sudo apt install libsecret-tools, or \(way)")
    }
}

/// The keyring of a replay: always empty.
struct NoKeyring: Keyring {
    let place = "a replay, which keeps nothing"

    func key(for device: String) -> Secret? { nil }
    func remember(_ key: borrowing Secret, for device: String) {}
    func forget(_ device: String) -> Bool { false }
    func forgetAll() -> Int? { 0 }
}
