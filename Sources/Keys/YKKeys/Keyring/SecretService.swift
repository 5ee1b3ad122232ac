// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
package import YKHardware
public import YKTransport
import YKWire

/// The Secret Service of the desktop session (org.freedesktop.secrets), through secret-tool: keys pass through its
/// standard input and output, never through its arguments.
public struct SecretService: Keyring {
    private let programs: ProgramRunner
    private let tool: String

    /// Returns the service of this session; `nil` without a session bus or without secret-tool.
    ///
    /// - Parameter cancellation: Ends the wait for the user to unlock the keyring.
    public init?(cancellation: Cancellation = Cancellation()) {
        self.init(cancellation) { ProcessVariables[$0] }
    }

    package init?(_ cancellation: Cancellation, _ variable: (String) -> String?) {
        guard variable("DBUS_SESSION_BUS_ADDRESS") != nil else { return nil }
        self.init(.system(cancellation))
    }

    package init?(_ programs: ProgramRunner) {
        guard let tool = programs.find("secret-tool") else { return nil }
        (self.programs, self.tool) = (programs, tool)
    }

    /// The location, as shown to the user.
    public var place: String { "the Secret Service of this session" }

    /// Returns the remembered key of a device, or `nil`.
    public func key(for device: String) throws(KeyringError) -> Secret? { try secret(Self.attributes(device)) }

    /// Remembers a key, replacing one of the same device.
    public func remember(_ key: borrowing Secret, for device: String) throws(KeyringError) {
        try keep(key, "ykit: OATH accounts on \(device)", Self.attributes(device))
    }

    /// Forgets a key; returns whether there was one.
    public func forget(_ device: String) throws(KeyringError) -> Bool {
        guard try holds(device) else { return false }
        return try clear(Self.attributes(device))
    }

    /// Forgets all keys; returns their number, if known.
    public func forgetAll() throws(KeyringError) -> Int? {
        _ = try run(["clear", "application", "ykit"])
        return nil
    }

    private static func attributes(_ device: String) -> [String] { ["application", "ykit", "device", device] }

    // MARK: any secret

    /// Returns the secret stored with these attributes, alternating names and values.
    public func secret(_ attributes: [String]) throws(KeyringError) -> Secret? {
        var result = try run(["lookup"] + attributes)
        defer { Secret.wipe(&result.output) }
        guard result.status == 0 else { return nil }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard var bytes = try? Hex.decode(text), !bytes.isEmpty else { return nil }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }

    /// Stores a secret with a display label, replacing one with the same attributes.
    ///
    /// - Throws: `refused`, or `program`.
    public func keep(_ key: borrowing Secret, _ label: String, _ attributes: [String]) throws(KeyringError) {
        var bytes = key.copyBytes()
        defer { Secret.wipe(&bytes) }
        let result = try run(["store", "--label=\(label)"] + attributes, input: Array(Hex.encode(bytes).utf8))
        guard result.status == 0 else { throw .refused }
    }

    /// Deletes what is stored with these attributes; returns whether the service succeeded.
    public func clear(_ attributes: [String]) throws(KeyringError) -> Bool {
        try run(["clear"] + attributes).status == 0
    }

    private func run(_ arguments: [String], input: [UInt8] = []) throws(KeyringError) -> ChildProcess.Ending {
        do { return try programs.run(tool, arguments, input, [:]) } catch { throw .program(error) }
    }
}
