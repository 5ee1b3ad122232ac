// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKStore
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Remembering access keys and the keys of stores on this computer.
@Suite struct KeyringTests {
    private let folder = NSTemporaryDirectory() + "ykit-keyring-\(UUID().uuidString)"

    private func text(_ keyring: any Keyring, _ device: String) throws -> String? {
        switch try keyring.key(for: device) {
        case .some(let key): String(decoding: key.copyBytes(), as: UTF8.self)
        case .none: nil
        }
    }

    private func write(_ text: String, _ name: String, mode: Int = 0o600) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(folder)/\(name)")
    }

    @Test("a file remembers keys by device, sealed, and forgets them")
    func file() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keyring = FileKeyring(folder: folder)
        #expect(try text(keyring, "a") == nil && !keyring.forget("a") && keyring.forgetAll() == 0)
        try keyring.remember(Secret(utf8: "first"), for: "a")
        try keyring.remember(Secret(utf8: "second"), for: "b")
        try keyring.remember(Secret(utf8: "third"), for: "a")
        #expect(try text(keyring, "a") == "third" && text(FileKeyring(folder: folder), "b") == "second")
        let stored = try String(contentsOfFile: keyring.place, encoding: .utf8)
        #expect(stored.contains("\"a\"") && !stored.contains("third"))
        try expect(FileManager.default.contentsOfDirectory(atPath: folder).count, is: 2)
        #expect(try keyring.forget("a") && !keyring.forget("a") && !keyring.holds("a") && keyring.holds("b"))
        #expect(try keyring.forgetAll() == 1 && !keyring.holds("b"))
    }

    @Test("a key does not open under another device's name, nor with another wrapping key")
    func sealed() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keyring = FileKeyring(folder: folder)
        try keyring.remember(Secret(utf8: "first"), for: "a")
        let stored = try String(contentsOfFile: keyring.place, encoding: .utf8)
        try write(stored.replacingOccurrences(of: "\"a\"", with: "\"b\""), "oath-keys.json")
        try expect(text(keyring, "b"), is: nil)
        try write(stored, "oath-keys.json")
        try expect(text(keyring, "a"), is: "first")
        try write(String(repeating: "x", count: 32), "wrapping-key")
        try expect(text(keyring, "a"), is: nil)
    }

    @Test("files that others can read, or that are something else, are refused")
    func refused() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let keyring = FileKeyring(folder: folder)
        try keyring.remember(Secret(utf8: "first"), for: "a")
        try write("short", "wrapping-key")
        let short = KeyringError.malformedKey(path: folder + "/wrapping-key", bytes: 5, keyring: keyring.place)
        #expect(throws: short) { _ = try keyring.key(for: "a") }
        try write("{}", "oath-keys.json")
        #expect(throws: KeyringError.malformed(path: keyring.place)) { _ = try keyring.key(for: "a") }
        try write("{}", "oath-keys.json", mode: 0o640)
        #expect(throws: KeyringError.exposed(path: keyring.place)) {
            try keyring.remember(Secret(utf8: "x"), for: "a")
        }
        let nowhere = FileKeyring(folder: "/dev/null/x")
        let error = #expect(throws: KeyringError.self) { try nowhere.remember(Secret(utf8: "x"), for: "a") }
        guard case .file(let failure)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(failure.attempt == .writeIn && failure.path == "/dev/null/x")
    }

    @Test("the folder of the file is the specification's")
    func folders() {
        expect(UserFolder.state.path { ["XDG_STATE_HOME": "/state", "HOME": "/home/a"][$0] }, is: "/state/ykit")
        expect(UserFolder.data.path { ["XDG_DATA_HOME": "x", "HOME": "/home/a"][$0] }, is: "/home/a/.local/share/ykit")
        expect(UserFolder.state.path { ["HOME": "relative"][$0] }, is: nil)
        expect(UserFolder.config.base { ["XDG_CONFIG_HOME": "/config", "HOME": "/home/a"][$0] }, is: "/config")
        expect(UserFolder.config.path { ["HOME": "/home/a"][$0] }, is: "/home/a/.config/ykit")
    }

    @Test("the Secret Service gets keys on standard input only")
    func secretService() throws {
        let fake = FakeSecretService()
        let programs = fake.programs
        let keyring = try #require(SecretService(programs.runner))
        #expect(SecretService(FakePrograms([:]).runner) == nil)
        #expect(try !keyring.holds("a") && !keyring.forget("a"))
        try keyring.remember(Secret(utf8: "first"), for: "a")
        #expect(try text(keyring, "a") == "first" && keyring.holds("a"))
        #expect(!programs.run.contains { $0.contains(Hex.encode(Array("first".utf8))) })
        #expect(
            programs.run.contains { $0.hasPrefix("secret-tool store --label=ykit: OATH accounts on a application") })
        #expect(try keyring.forget("a") && !keyring.holds("a"))
        try keyring.remember(Secret(utf8: "second"), for: "b")
        #expect(try keyring.forgetAll() == nil && !keyring.holds("b"))
        fake.isLocked.withLock { $0 = true }
        #expect(throws: KeyringError.refused) { try keyring.remember(Secret(utf8: "x"), for: "a") }
        let slow = FakePrograms([
            "secret-tool": { _, _ throws(ProgramError) in throw .timedOut(program: "secret-tool") }
        ])
        #expect(throws: KeyringError.program(.timedOut(program: "secret-tool"))) {
            _ = try SecretService(slow.runner)?.key(for: "a")
        }
    }

    @Test("a store that is sealed with the keyring opens until the secret is forgotten")
    func store() throws {
        let fake = FakeSecretService()
        let keyring = StoreKeyring(try #require(SecretService(fake.programs.runner)))
        let key = try StoreKey(SystemRandom())
        let seal = try keyring.seal(key, name: "ring", added: 1, SystemRandom())
        let record = try key.seal(Secret(utf8: "one"), id: "1", service: "test", [:])
        let opened = try #require(try keyring.open([seal]))
        #expect(try opened.open(record, service: "test").value == Secret(utf8: "one"))
        try expect(keyring.forget([seal]), is: 1)
        #expect(try keyring.open([seal]) == nil && keyring.forget([seal]) == 0)
        fake.isLocked.withLock { $0 = true }
        #expect(throws: KeyringError.refused) { try keyring.seal(key, name: "ring", added: 1, SystemRandom()) }
    }
}

/// Programs of this machine.
@Suite struct ChildProcessTests {
    @Test func inputOutputAndStatus() throws {
        let shell = try #require(ChildProcess.find("sh"))
        expect(ChildProcess.find("sh", path: "relative:."), is: nil)
        let result = try ChildProcess.run(
            shell, ["-c", "cat; exit 3"], input: Array("text".utf8), deadline: .after(.seconds(60)))
        #expect(result.status == 3 && result.output == Array("text".utf8))
        #expect(throws: ProgramError.self) {
            try ChildProcess.run("/nowhere", [], deadline: .after(.seconds(60)))
        }
    }

    @Test func variablesAreInheritedUnlessWithheld() throws {
        let env = try #require(ChildProcess.find("env"))
        func seen(_ variables: [String: String] = [:]) throws -> [Substring] {
            let result = try ChildProcess.run(env, [], variables: variables, deadline: .after(.seconds(60)))
            return String(decoding: result.output, as: UTF8.self).split(separator: "\n")
        }
        #expect(try seen().contains { $0.hasPrefix("PATH=") })
        try expect(
            seen(["PATH": "/x", "PATHS": "a=b"]).filter { $0.hasPrefix("PATH") }.sorted(),
            is: [
                "PATH=/x", "PATHS=a=b",
            ])
        ChildProcess.withhold { $0 == "LANG" || $0 == "PWD" }
        defer { ChildProcess.withhold { _ in false } }
        #expect(try !seen().contains { $0.hasPrefix("LANG=") })
        #expect(try !seen().contains { $0.hasPrefix("PWD=") })
        #expect(try seen(["LANG": "C"]).contains("LANG=C"), "what is given is meant")
    }

    @Test func endsOnDeadlineAndCancellation() throws {
        let shell = try #require(ChildProcess.find("sh"))
        #expect(throws: ProgramError.timedOut(program: shell)) {
            try ChildProcess.run(shell, ["-c", "exec sleep 600"], deadline: .after(.milliseconds(50)))
        }
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: ProgramError.cancelled) {
            try ChildProcess.run(
                shell, ["-c", "exec sleep 600"], deadline: .after(.seconds(600), cancellation: cancellation))
        }
    }
}
