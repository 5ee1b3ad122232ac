// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport
import YKToken
import YKTransport
import YKWire

/// The file of counters: it lasts, it is locked, and it is never guessed at.
@Suite struct CounterFileTests {
    private final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)").path
        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var file: String { path + "/counters.json" }
        var text: String { (try? String(contentsOfFile: file, encoding: .utf8)) ?? "" }
        func write(_ text: String) throws { try text.write(toFile: file, atomically: false, encoding: .utf8) }
        func mode(_ name: String) -> UInt16? {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/" + name)
            return (attributes?[.posixPermissions] as? NSNumber)?.uint16Value
        }
    }

    private let id: [UInt8] = [0, 0, 1]

    @Test func itLasts() throws {
        let folder = try Folder()
        try expect(CounterFile(folder.file).advance(id, to: OTPCounter(use: 3, session: 4)), is: nil)
        #expect(folder.mode("counters.json") == 0o600 && folder.mode("counters.json.lock") == 0o600)
        #expect(
            try CounterFile(folder.file).advance(id, to: OTPCounter(use: 3, session: 4))
                == OTPCounter(use: 3, session: 4))
        #expect(
            try CounterFile(folder.file).advance(id, to: OTPCounter(use: 1, session: 0))
                == OTPCounter(use: 3, session: 4))
        #expect(
            try CounterFile(folder.file).advance(id, to: OTPCounter(use: 4, session: 0))
                == OTPCounter(use: 3, session: 4))
        try expect(CounterFile(folder.file).advance([], to: OTPCounter(use: 0, session: 0)), is: nil)
        #expect(
            folder.text.contains(#""cccccb":{"use":4,"session":0}"#)
                && folder.text.hasPrefix(#"{"ykit-otp-counters":1"#))
    }

    @Test func aBrokenFileStaysAndNothingIsAccepted() throws {
        let folder = try Folder()
        let file = CounterFile(folder.file)
        for text in [
            "", "{", "[]", #"{"ykit-otp-counters":2,"keys":{}}"#, #"{"ykit-otp-counters":1}"#,
            #"{"ykit-otp-counters":1,"keys":{"cccccb":{"use":65536,"session":0}}}"#,
            #"{"ykit-otp-counters":1,"keys":{"cccccb":{"use":1,"session":-1}}}"#,
            #"{"ykit-otp-counters":1,"keys":{"cccccb":7}}"#,
        ] {
            try folder.write(text)
            #expect(throws: CounterFileError.self, "\(text)") {
                try file.advance(id, to: OTPCounter(use: 9, session: 9))
            }
            expect(folder.text, is: text)
        }
    }

    @Test func whatCannotBeReadOrWritten() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(atPath: folder.file, withIntermediateDirectories: false)
        #expect(throws: CounterFileError.self) {
            try CounterFile(folder.file).advance(id, to: OTPCounter(use: 1, session: 1))
        }
        #expect(throws: CounterFileError.self) {
            try CounterFile(folder.path + "/no/such").advance(id, to: OTPCounter(use: 1, session: 1))
        }
        let link = folder.path + "/link"
        symlink(folder.path + "/elsewhere", link)
        #expect(throws: CounterFileError.self) { try CounterFile(link).advance(id, to: OTPCounter(use: 1, session: 1)) }
        let long = folder.path + "/" + String(repeating: "n", count: 248)
        #expect(
            throws: CounterFileError.file(.unwritable(path: long, FileFailure(.create, long, ENAMETOOLONG)))
        ) {
            try CounterFile(long).advance(id, to: OTPCounter(use: 1, session: 1))
        }
    }

    @Test func aHeldLockIsWaitedForAndThenNamed() throws {
        let folder = try Folder()
        let lock = open(folder.file + ".lock", O_RDWR | O_CREAT, 0o600)
        defer { close(lock) }
        expect(flock(lock, LOCK_EX), is: 0)
        #expect(throws: CounterFileError.file(.inUse(path: folder.file))) {
            try CounterFile(folder.file, patience: .milliseconds(10)).advance(id, to: OTPCounter(use: 1, session: 1))
        }
        flock(lock, LOCK_UN)
        #expect(throws: Never.self) {
            try CounterFile(folder.file, patience: .milliseconds(10)).advance(id, to: OTPCounter(use: 1, session: 1))
        }
    }

    @Test func ofManyAtOnceOneIsFirst() async throws {
        let folder = try Folder()
        let file = CounterFile(folder.file)
        let id = id
        let firsts = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 {
                group.addTask { (try? file.advance(id, to: OTPCounter(use: 1, session: 1))) == .some(nil) }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        expect(firsts, is: 1)
    }

    @Test("a new file that a crash left behind is of no account")
    func leftovers() throws {
        let folder = try Folder()
        let file = CounterFile(folder.file)
        _ = try file.advance(id, to: OTPCounter(use: 7, session: 0))
        try #"{"ykit-otp-counters":1,"keys":{}}"#.write(
            toFile: folder.file + ".new-\(getpid())-0", atomically: false, encoding: .utf8)
        try expect(file.advance(id, to: OTPCounter(use: 6, session: 0)), is: OTPCounter(use: 7, session: 0))
        try expect(file.advance(id, to: OTPCounter(use: 8, session: 0)), is: OTPCounter(use: 7, session: 0))
        try expect(file.advance(id, to: OTPCounter(use: 9, session: 0)), is: OTPCounter(use: 8, session: 0))
    }
}
