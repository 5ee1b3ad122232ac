// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKHardware
import YKTransport
import YKWire

/// cryptsetup(8), which changes volumes. Secrets are passed on standard input and descriptor 3, never in its arguments.
package struct Cryptsetup: Sendable {
    /// Runs the program with bytes on standard input and on descriptor 3.
    package typealias Run =
        @Sendable (_ arguments: [String], _ input: [UInt8], _ second: [UInt8]?) throws(ProgramError) ->
        ChildProcess.Ending

    /// The timeout: hashing a passphrase takes seconds, or longer on a slow machine.
    private static let limit = Duration.seconds(600)
    /// The exit status if no slot has the passphrase.
    private static let noPermission: Int32 = 2
    /// The options for random keys, which systemd uses as well: they need no slow hash.
    private static let fastHash = ["--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000"]

    private let run: Run

    package init(_ run: @escaping Run) { self.run = run }

    /// Finds the program, also in the folders that only root's PATH contains. A change that has begun is not
    /// interrupted.
    ///
    /// - Parameter path: The user's PATH.
    /// - Throws: `noCryptsetup`.
    package static func installed(path: String?) throws(LUKSError) -> Cryptsetup {
        let path = (path ?? "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"
        guard let program = ChildProcess.find("cryptsetup", path: path) else { throw .noCryptsetup }
        return Cryptsetup { arguments, input, second throws(ProgramError) in
            try ChildProcess.run(
                program, arguments, input: input, second: second, variables: ["LC_ALL": "C"], hasTerminal: false,
                keepsErrors: true, deadline: .after(limit))
        }
    }

    /// Returns whether a passphrase opens a slot, or any slot.
    package func opens(
        _ device: String, _ passphrase: SharedSecret, slot: Int? = nil
    ) throws(LUKSError) -> Bool {
        let place = slot.map { ["--key-slot", "\($0)"] } ?? []
        do throws(LUKSError) {
            try call(["open", "--test-passphrase", "--key-file", "-"] + place + [device], passphrase)
            return true
        } catch .wrongPassphrase { return false }
    }

    /// Adds a slot with a passphrase that is a random key.
    ///
    /// - Parameter present: A passphrase that opens the volume.
    func addKey(
        _ device: String, slot: Int, _ passphrase: SharedSecret, present: SharedSecret
    ) throws(LUKSError) {
        try call(
            ["luksAddKey", "--batch-mode", "--key-file", "-", "--key-slot", "\(slot)"] + Self.fastHash
                + [device, "/proc/self/fd/3"], present, second: passphrase)
    }

    /// Adds a token.
    func importToken(_ device: String, _ number: Int, _ json: JSONValue) throws(LUKSError) {
        try call(
            ["token", "import", "--token-id", "\(number)", "--json-file", "-", device],
            input: Array(json.text.utf8))
    }

    /// Removes a token.
    func removeToken(_ device: String, _ number: Int) throws(LUKSError) {
        try call(["token", "remove", "--token-id", "\(number)", device], input: [])
    }

    /// Removes a slot, provided that the passphrase opens another one.
    func removeKey(_ device: String, slot: Int, remaining: SharedSecret) throws(LUKSError) {
        try call(["luksKillSlot", "--batch-mode", "--key-file", "-", device, "\(slot)"], remaining)
    }

    private func call(
        _ arguments: [String], _ secret: SharedSecret, second: SharedSecret? = nil
    ) throws(LUKSError) {
        var input = secret.value.copyBytes()
        defer { Secret.wipe(&input) }
        var other = second.map { $0.value.copyBytes() } ?? []
        defer { Secret.wipe(&other) }
        try call(arguments, input: input, second: second == nil ? nil : other)
    }

    private func call(_ arguments: [String], input: [UInt8], second: [UInt8]? = nil) throws(LUKSError) {
        let ending: ChildProcess.Ending
        do { ending = try run(arguments, input, second) } catch { throw .program(error) }
        if ending.status == 0 { return }
        if ending.status == Self.noPermission { throw .wrongPassphrase }
        let lines = String(decoding: ending.errors, as: UTF8.self).split(whereSeparator: \.isNewline)
        let message = lines.last { !$0.hasPrefix("WARNING") }.map(String.init) ?? ""
        throw .cryptsetup(message, status: Int(ending.status))
    }
}
