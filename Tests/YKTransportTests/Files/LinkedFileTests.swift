// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport
import YKTransport

/// Files behind symbolic links.
@Suite struct LinkedFileTests {
    private let folder = TemporaryFolder()

    private func path(_ name: String) -> String { folder.path + "/" + name }

    @Test func aLinkLeadsToItsFileThatNeedNotExist() throws {
        symlink("second", path("first"))
        symlink(path("file"), path("second"))
        try expect(LinkedFile.target(of: path("first")), is: path("file"))
        try expect(LinkedFile.target(of: path("other")), is: path("other"))
    }

    @Test func aCircleOfLinksIsAnError() {
        symlink("two", path("one"))
        symlink("one", path("two"))
        #expect {
            try LinkedFile.target(of: path("one"))
        } throws: { ($0 as? FileFailure)?.number == ELOOP }
    }

    @Test(.enabled(if: geteuid() == 0)) func somebodyElsesLinkInASharedFolderIsNotFollowed() {
        chmod(folder.path, 0o1777)
        symlink("file", path("link"))
        lchown(path("link"), 12345, 12345)
        #expect(throws: FileFailure(.open, path("link"), EACCES)) { try LinkedFile.target(of: path("link")) }
        chmod(folder.path, 0o755)
        #expect(throws: Never.self) { try LinkedFile.target(of: path("link")) }
    }

    @Test(arguments: [true, false]) func aSharedFileIsWrittenThroughALink(_ exists: Bool) throws {
        mkdir(path("real"), 0o700)
        if exists { try "old".write(toFile: path("real/file"), atomically: false, encoding: .utf8) }
        symlink("real/file", path("link"))
        let file = SharedFile(path("link"), limit: 100, patience: .zero, followsLinks: true)
        try file.locked({ $0 }) { () throws(SharedFileError) in try file.replace(with: Array("new".utf8)) }
        try expect(String(contentsOfFile: path("real/file"), encoding: .utf8), is: "new")
        try expect(file.read(), is: Array("new".utf8))
        try expect(FileManager.default.destinationOfSymbolicLink(atPath: path("link")), is: "real/file")
        expect(folder.names, is: ["link", "real"])
        try expect(FileManager.default.contentsOfDirectory(atPath: path("real")).sorted(), is: ["file", "file.lock"])
    }
}
