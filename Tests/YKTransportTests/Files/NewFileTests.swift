// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport
import YKTransport

/// Files that are complete or not there.
@Suite struct NewFileTests {
    @Test func itTakesANameWhenItIsComplete() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/state"
        try "old".write(toFile: path, atomically: false, encoding: .utf8)
        var file = try NewFile(beside: path)
        try file.append(Array("new".utf8))
        try file.sync()
        try expect(String(contentsOfFile: path, encoding: .utf8), is: "old")
        try file.replace()
        expect(file.path, is: path)
        try expect(String(contentsOfFile: path, encoding: .utf8), is: "new")
        expect(folder.mode("state"), is: 0o600)
        expect(folder.names, is: ["state"])
    }

    @Test func whatIsNotNamedIsGone() throws {
        let folder = TemporaryFolder()
        do {
            let file = try NewFile(beside: folder.path + "/state")
            try file.append([1])
        }
        #expect(folder.names.isEmpty)
    }

    @Test func aFileHasNoNameBeforeItIsComplete() throws {
        let folder = TemporaryFolder()
        let file = try NewFile(beside: folder.path + "/state")
        try file.append(Array("private key".utf8))
        #expect(folder.names.isEmpty)  // A program killed here leaves nothing behind.
        let shared = folder.path + "/shared"
        var readable = try NewFile(beside: shared, mode: 0o644)
        try readable.replace()
        let mask = umask(0)
        umask(mask)
        expect(folder.mode("shared"), is: 0o644 & ~mask)
    }

    @Test func aTakenNameIsLeftAlone() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/state"
        try "theirs".write(toFile: path, atomically: false, encoding: .utf8)
        var file = try NewFile(beside: path)
        try expect(file.takeFree(), is: false)
        try expect(String(contentsOfFile: path, encoding: .utf8), is: "theirs")
        expect(folder.names, is: ["state"])
        var free = try NewFile(beside: path + "2")
        #expect(try free.takeFree())
        expect(folder.names, is: ["state", "state2"])
    }

    @Test func contentThatMustOutliveTheProgramIsOnDiskUnderATemporaryName() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/secret"
        var file = try NewFile(beside: path)
        try file.append(Array("secret".utf8))
        try file.takeTemporaryName()
        expect(folder.names, is: ["secret.kept-\(getpid())-0"])
        expect(folder.mode("secret.kept-\(getpid())-0"), is: 0o600)
        #expect(try file.takeFree())
        expect(folder.names, is: ["secret"])
    }

    @Test func whatMustOutliveAProgramIsRemovedByNoOther() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/secret"
        try "theirs".write(toFile: path + ".kept-999999999-0", atomically: false, encoding: .utf8)
        var file = try NewFile(beside: path)
        #expect(try file.takeFree())
        expect(folder.names, is: ["secret", "secret.kept-999999999-0"])
    }

    @Test func aTemporaryNameStaysIfTheNameIsLost() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/secret"
        do {
            var file = try NewFile(beside: path)
            try file.append(Array("secret".utf8))
            try file.takeTemporaryName()
            try "theirs".write(toFile: path, atomically: false, encoding: .utf8)
            try expect(file.takeFree(), is: false)
            try file.keepTemporaryName()
        }
        expect(folder.names, is: ["secret", "secret.kept-\(getpid())-0"])
        try expect(String(contentsOfFile: path, encoding: .utf8), is: "theirs")
    }

    @Test func aFileThatIsNotCompletedLeavesWhatAKilledProgramLeft() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/secret"
        try "theirs".write(toFile: path + ".new-999999999-0", atomically: false, encoding: .utf8)
        do {
            let file = try NewFile(beside: path)
            try file.append([1])
        }
        expect(folder.names, is: ["secret.new-999999999-0"])
        var file = try NewFile(beside: path)
        #expect(try file.takeFree())
        expect(folder.names, is: ["secret"])
    }

    @Test func nothingIsOverwrittenOrFollowed() throws {
        let folder = TemporaryFolder()
        let path = folder.path + "/state"
        symlink(folder.path + "/elsewhere", path)
        var file = try NewFile(beside: path)
        #expect(throws: FileFailure(.create, path, EEXIST)) { try file.take() }
        expect(folder.names, is: ["state"])
        #expect(throws: FileFailure(.create, folder.path + "/no/such", ENOENT)) {
            _ = try NewFile(beside: folder.path + "/no/such")
        }
    }

    @Test func aFullDiskIsTold() {
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        #expect(throws: FileFailure(.write, "/dev/full", ENOSPC)) { try NewFile.write([1], to: full, "/dev/full") }
        expect("\(FileFailure(.write, "x", ENOSPC))", is: "cannot write x: No space left on device")
    }
}
