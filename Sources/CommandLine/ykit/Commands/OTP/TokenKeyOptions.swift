// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKWire

/// The source of the key that decrypts a password.
struct TokenKeyOptions: ParsableArguments {
    static let title = "Key Options"

    @Flag(help: "Read the key from standard input, one line.") var keyStdin = false

    @Option(help: ArgumentHelp("Read the key from this open file descriptor.", valueName: "n")) var keyFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Read the key from this file: alone, or lines of CSV with public identity, private identity and key.",
            valueName: "file"),
        completion: .file)
    var keyFile: String?

    func check() throws {
        guard [keyStdin, keyFd != nil, keyFile != nil].count(where: { $0 }) < 2 else {
            throw UsageError("Name one place for the key.")
        }
    }

    /// Returns the text that contains the key; `nil` if the user must be asked.
    func given(_ variable: String, _ terminal: Terminal) throws -> SharedSecret? {
        if let keyFile {
            var bytes = try Files.read(keyFile)
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        }
        let source = SecretInput.Source(
            isStandardInput: keyStdin, descriptor: keyFd, variable: variable, hint: "")
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return SharedSecret(secret)
        case .none: return nil
        }
    }

    /// Returns the text that contains the key, given or asked for.
    func read(_ variable: String, _ question: String, _ terminal: Terminal) throws -> SharedSecret {
        if let given = try given(variable, terminal) { return given }
        let hint = "give it with --key-file FILE, --key-stdin, --key-fd N or \(variable)"
        return SharedSecret(try Prompt(orElse: hint).secret(question))
    }
}

/// The data needed to decrypt a slot's passwords.
struct SlotKey {
    let key: SharedSecret
    let publicID: [UInt8]?
    let privateID: SharedSecret?

    /// Finds the slot of a password in a text. The text is either a key in hexadecimal, or lines that contain a public
    /// identity in modhex, a private identity and a key in hexadecimal, in the formats of slot-programming tools.
    static func find(_ otp: YubicoOTP, in text: SharedSecret) throws -> SlotKey {
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        let lines = bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { SlotKey($0) }
        guard !lines.isEmpty else {
            throw Explanation.usage("there is no AES key: 32 digits in hexadecimal are expected")
        }
        if let exact = lines.first(where: { $0.publicID == otp.publicID }) { return exact }
        guard let only = lines.first, lines.count == 1 else {
            throw Explanation(
                "no-such-key", .notFound, "no key of '\(Modhex.encode(otp.publicID))' is among the \(lines.count) given"
            )
        }
        return only
    }

    private init?(_ line: ArraySlice<UInt8>) {
        let words = line.split { $0 == 0x2C || $0 == 0x3B || $0 == 0x20 || $0 == 0x09 }.map {
            String(decoding: $0, as: UTF8.self)
        }
        guard let place = words.firstIndex(where: { $0.utf8.count == 32 && (try? Hex.decode($0)) != nil }),
            var key = try? Hex.decode(words[place])
        else { return nil }
        defer { Secret.wipe(&key) }
        self.key = SharedSecret(Secret(key))
        let before = words.prefix(place)
        privateID = before.last.flatMap { $0.utf8.count == 12 ? try? Hex.decode($0) : nil }.map {
            SharedSecret(Secret($0))
        }
        let names = privateID == nil ? before : before.dropLast()
        publicID = names.last.flatMap { try? Modhex.decode($0) }.flatMap { $0.count <= 16 ? $0 : nil }
    }
}
