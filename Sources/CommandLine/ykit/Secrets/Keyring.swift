// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// Where access keys are remembered, each under the id of the one device it belongs to.
protocol Keyring {
    /// The key of a device, when one is remembered.
    func key(for device: String) throws(Explanation) -> Secret?
    /// Remembers a key.
    func remember(_ key: borrowing Secret, for device: String) throws(Explanation)
    /// Forgets a key; answers whether there was one.
    func forget(_ device: String) throws(Explanation) -> Bool
    /// Forgets all keys; answers how many there were, where that is known.
    func forgetAll() throws(Explanation) -> Int?
    /// Where that is, for people.
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
    /// The Secret Service of the desktop session where there is one, else a file; `YKIT_KEYRING` says which. A replay
    /// reads and keeps nothing: it shows what was, and does nothing to this computer.
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

    /// The Secret Service of the desktop session; `way` says what to do where there is none.
    static func secretService(or way: String) throws(Explanation) -> SecretService {
        if let service = SecretService() { return service }
        throw Explanation(
            "no-secret-service", .failed, "there is no desktop session with a Secret Service, or no secret-tool",
            hint: "sudo apt install libsecret-tools, or \(way)")
    }
}

/// The keyring of a replay: empty, and nothing gets into it.
struct NoKeyring: Keyring {
    let place = "a replay, which keeps nothing"

    func key(for device: String) -> Secret? { nil }
    func remember(_ key: borrowing Secret, for device: String) {}
    func forget(_ device: String) -> Bool { false }
    func forgetAll() -> Int? { 0 }
}
