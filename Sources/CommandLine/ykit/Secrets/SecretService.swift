// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The Secret Service of the desktop session (org.freedesktop.secrets), through secret-tool: keys pass through its
/// standard input and output, never through its arguments.
struct SecretService: Keyring {
    private let tool: String

    /// Fails without a session bus or without secret-tool.
    init?() {
        guard Variables["DBUS_SESSION_BUS_ADDRESS"] != nil, let tool = Spawn.find("secret-tool") else { return nil }
        self.tool = tool
    }

    var place: String { "the Secret Service of this session" }

    func key(for device: String) throws(Explanation) -> Secret? { try secret(Self.attributes(device)) }

    func remember(_ key: borrowing Secret, for device: String) throws(Explanation) {
        try keep(
            key, "ykit: OATH accounts on \(device)", Self.attributes(device), hint: "unlock it, or YKIT_KEYRING=file")
    }

    /// Returns the secret stored with these attributes, alternating names and values.
    func secret(_ attributes: [String]) throws(Explanation) -> Secret? {
        var result = try Spawn.run(tool, ["lookup"] + attributes)
        defer { Secret.wipe(&result.output) }
        guard result.status == 0 else { return nil }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard var bytes = try? Hex.decode(text), !bytes.isEmpty else { return nil }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    /// Stores a secret with a label for people, replacing one with the same attributes.
    func keep(
        _ key: borrowing Secret, _ label: String, _ attributes: [String], hint: String
    ) throws(Explanation) {
        var bytes = key.copyBytes()
        defer { Secret.wipe(&bytes) }
        let result = try Spawn.run(
            tool, ["store", "--label=\(label)"] + attributes, input: Array(Hex.encode(bytes).utf8))
        guard result.status == 0 else {
            throw Explanation("keyring", .failed, "the Secret Service did not take the key", hint: hint)
        }
    }

    /// Deletes what is stored with these attributes; returns whether the service succeeded.
    func clear(_ attributes: [String]) throws(Explanation) -> Bool {
        try Spawn.run(tool, ["clear"] + attributes).status == 0
    }

    func forget(_ device: String) throws(Explanation) -> Bool {
        guard try holds(device) else { return false }
        return try clear(Self.attributes(device))
    }

    func forgetAll() throws(Explanation) -> Int? {
        _ = try Spawn.run(tool, ["clear", "application", "ykit"])
        return nil
    }

    private static func attributes(_ device: String) -> [String] { ["application", "ykit", "device", device] }
}
