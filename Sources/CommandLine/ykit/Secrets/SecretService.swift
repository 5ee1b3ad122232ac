// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// The Secret Service of the desktop session (org.freedesktop.secrets), through secret-tool: keys go over its standard
/// input and output, never through its arguments.
struct SecretService: Keyring {
    private let tool: String

    /// Nothing without a session bus or without the tool.
    init?() {
        guard Variables["DBUS_SESSION_BUS_ADDRESS"] != nil, let tool = Spawn.find("secret-tool") else { return nil }
        self.tool = tool
    }

    var place: String { "the Secret Service of this session" }

    func key(for device: String) throws(Explanation) -> Secret? {
        var result = try Spawn.run(tool, ["lookup"] + Self.attributes(device))
        defer { Secret.wipe(&result.output) }
        guard result.status == 0 else { return nil }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard var bytes = try? Hex.decode(text), !bytes.isEmpty else { return nil }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    func remember(_ key: borrowing Secret, for device: String) throws(Explanation) {
        var bytes = key.copyBytes()
        defer { Secret.wipe(&bytes) }
        let result = try Spawn.run(
            tool, ["store", "--label=ykit: OATH accounts on \(device)"] + Self.attributes(device),
            input: Array(Hex.encode(bytes).utf8))
        guard result.status == 0 else {
            throw Explanation(
                "keyring", .failed, "the Secret Service did not take the key", hint: "unlock it, or YKIT_KEYRING=file")
        }
    }

    func forget(_ device: String) throws(Explanation) -> Bool {
        guard try holds(device) else { return false }
        return try Spawn.run(tool, ["clear"] + Self.attributes(device)).status == 0
    }

    func forgetAll() throws(Explanation) -> Int? {
        _ = try Spawn.run(tool, ["clear", "application", "ykit"])
        return nil
    }

    private static func attributes(_ device: String) -> [String] { ["application", "ykit", "device", device] }
}
