// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport

@testable import YKHardware

/// Nodes that are moved, with pipes in their place, which need no root.
struct TakenNodesTests {
    private final class Folder {
        let path = "/tmp/yktaken.\(UInt32.random(in: 0 ... .max))"
        init() throws {
            for name in ["", "/dev", "/sys", "/sys/class", "/sys/class/hidraw"] { mkdir(path + name, 0o755) }
        }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        var nodes: TakenNodes { TakenNodes(devices: path + "/dev", system: path + "/sys", kind: S_IFIFO) }
        func attach(_ name: String, number: String = "0:0") throws {
            mkdir("\(path)/sys/class/hidraw/\(name)", 0o755)
            try Data("\(number)\n".utf8).write(to: URL(filePath: "\(path)/sys/class/hidraw/\(name)/dev"))
            try Data().write(to: URL(filePath: "\(path)/sys/class/hidraw/\(name)/uevent"))
        }
        var names: [String] { SystemFile.names(in: path + "/dev").sorted() }
    }

    @Test("a node that was found before it was moved is found where it is now, and the other way round")
    func otherPath() {
        expect(TakenNodes.otherPath(of: "/dev/hidraw1"), is: "/dev/ykit-guard/hidraw1")
        expect(TakenNodes.otherPath(of: "/dev/ykit-guard/hidraw1"), is: "/dev/hidraw1")
        for path in ["/tmp/hidraw1", "/dev/bus/usb", "hidraw1", ""] { expect(TakenNodes.otherPath(of: path), is: nil) }
    }

    @Test("a node is moved, keeps what it is, and comes back")
    func takesAndGivesBack() throws {
        let folder = try Folder()
        mkfifo(folder.path + "/dev/hidraw1", 0o640)
        try folder.attach("hidraw1")
        let before = try #require(FileStatus(folder.path + "/dev/hidraw1"))
        let path = try folder.nodes.take("hidraw1", for: geteuid())
        #expect(path == folder.path + "/dev/ykit-guard/hidraw1" && FileStatus(path) == before)
        expect(folder.names, is: ["ykit-guard"])
        expect(folder.nodes.giveBack(), is: ["hidraw1"])
        #expect(FileStatus(folder.path + "/dev/hidraw1") == before && folder.names == ["hidraw1"])
        expect(SystemFile.text(folder.path + "/sys/class/hidraw/hidraw1/uevent"), is: "change")
        expect(folder.nodes.giveBack(), is: [])
    }

    @Test("the node of a device that is gone, or that another has now, is removed")
    func stale() throws {
        let folder = try Folder()
        for name in ["hidraw1", "hidraw2", "hidraw3"] {
            mkfifo("\(folder.path)/dev/\(name)", 0o600)
            _ = try folder.nodes.take(name, for: geteuid())
        }
        try folder.attach("hidraw2", number: "245:9")
        try folder.attach("hidraw3")
        mkfifo(folder.path + "/dev/hidraw3", 0o600)
        expect(folder.nodes.giveBack(), is: [])
        expect(folder.names, is: ["hidraw3"])
    }

    @Test("what is no node is neither taken nor given back")
    func others() throws {
        let folder = try Folder()
        try Data().write(to: URL(filePath: folder.path + "/dev/hidraw1"))
        #expect(throws: TakenNodes.Failure(path: folder.path + "/dev/hidraw1", number: ENODEV)) {
            try folder.nodes.take("hidraw1", for: geteuid())
        }
        #expect(throws: TakenNodes.Failure(path: folder.path + "/dev/hidraw2", number: ENOENT)) {
            try folder.nodes.take("hidraw2", for: geteuid())
        }
        symlink("/etc/passwd", folder.path + "/dev/ykit-guard/hidraw5")
        try folder.attach("hidraw5")
        #expect(folder.nodes.giveBack() == [] && folder.names == ["hidraw1"])
    }

    @Test("a folder that is a link is not used")
    func linked() throws {
        let folder = try Folder()
        mkfifo(folder.path + "/dev/hidraw1", 0o600)
        symlink("/tmp", folder.path + "/dev/ykit-guard")
        #expect(throws: TakenNodes.Failure(path: folder.path + "/dev/ykit-guard", number: EEXIST)) {
            try folder.nodes.take("hidraw1", for: geteuid())
        }
    }

    @Test("the list of the folder lets one user enter it")
    func accessList() throws {
        let list = AccessList([.init(.owner, 7), .init(.user(1000), 1), .init(.mask, 1), .init(.others, 0)])
        try expect(AccessList(decoding: list.encoded), is: list)
    }
}
