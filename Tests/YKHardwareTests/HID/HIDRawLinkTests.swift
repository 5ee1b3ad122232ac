// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware

@Suite struct HIDRawLinkTests {
    private let report = (0..<64).map { UInt8($0) }

    @Test func aReportIsWrittenWithTheNumberZeroBeforeIt() throws {
        let node = try FakeNode()
        try node.link.write(report, deadline: .soon)
        expect(node.written(), is: [0] + report)
        try node.link.write([1, 2, 3], deadline: .soon)
        expect(node.written(), is: [0, 1, 2, 3] + [UInt8](repeating: 0, count: 61))
        expect(node.link.identity.path, is: "/dev/hidraw7")
    }

    @Test func reportsThatHaveNumbersLoseThemOnTheWayInAndGetThemOnTheWayOut() throws {
        let numbered = "06d0f10901a101" + "8502" + "7508954081029102" + "c0"
        let node = try FakeNode(numbered)
        try node.link.write(report, deadline: .soon)
        expect(node.written(), is: [2] + report)
        node.deliver([2] + report)
        try expect(node.link.read(deadline: .soon), is: report)
    }

    @Test func aReportThatIsTooLongIsNotSent() throws {
        let node = try FakeNode()
        #expect(throws: LinkError.self) { try node.link.write(report + [1], deadline: .soon) }
        expect(node.written(), is: nil)
    }

    @Test func shortReportsAreGivenAsTheyCame() throws {
        let node = try FakeNode()
        node.deliver([1, 2, 3])
        node.deliver(report)
        try expect(node.link.read(deadline: .soon), is: [1, 2, 3])
        try expect(node.link.read(deadline: .soon), is: report)
    }

    /// The kernel has room for 64 reports: what other programs caused may not crowd out our answer.
    @Test func whatCameBeforeIsTakenInBeforeWeWrite() throws {
        let node = try FakeNode()
        for number in 0..<60 { node.deliver([UInt8(number)] + report.dropFirst()) }
        try node.link.write(report, deadline: .soon)
        for number in 60..<100 { node.deliver([UInt8(number)] + report.dropFirst()) }
        for number in 0..<100 { try expect(node.link.read(deadline: .soon).first, is: UInt8(number)) }
    }

    @Test func aWaitEndsWithTheDeadlineOrTheCancellation() throws {
        let node = try FakeNode()
        #expect(throws: LinkError.timedOut("a report of the key")) {
            try node.link.read(deadline: .after(.milliseconds(30)))
        }
        let cancellation = Cancellation()
        let canceller = Canceller(cancellation, after: 30_000)
        #expect(throws: LinkError.cancelled) {
            try node.link.read(deadline: .after(.seconds(20), cancellation: cancellation))
        }
        #expect(canceller.elapsed() < .seconds(5))
        #expect(throws: LinkError.cancelled) {
            try node.link.write(report, deadline: .after(.seconds(20), cancellation: cancellation))
        }
        expect(node.written(), is: nil)
    }

    @Test func aWaitEndsWithItsTask() async throws {
        let begun = Signal()
        let blocking = try Blocking()
        let task = Task {
            try await blocking.run {
                let node = try FakeNode()
                begun.send()
                return try node.link.read(deadline: ServiceEnvironment(timeout: .seconds(600)).deadline())
            }
        }
        await begun.wait()
        task.cancel()
        await #expect(throws: LinkError.cancelled) { try await task.value }
    }

    @Test func aDeviceThatGoesIsRemovedAfterWhatItSaid() throws {
        let node = try FakeNode()
        node.deliver(report)
        node.unplug()
        try expect(node.link.read(deadline: .soon), is: report)
        #expect(throws: LinkError.removed) { try node.link.read(deadline: .soon) }
        #expect(throws: LinkError.removed) { try node.link.write(report, deadline: .soon) }
    }

    @Test func aDeviceThatGoesDuringAWaitIsRemoved() throws {
        let node = try FakeNode()
        nonisolated(unsafe) let held = node
        _ = SystemThread.start {
            usleep(20_000)
            held.unplug()
        }
        #expect(throws: LinkError.removed) { try node.link.read(deadline: .soon) }
    }

    @Test func aDeviceThatTakesNoMoreEndsWithTheDeadline() throws {
        let node = try FakeNode()
        #expect(throws: LinkError.timedOut("the key to accept a report")) {
            let deadline = Deadline.after(.milliseconds(200))
            while true { try node.link.write(report, deadline: deadline) }
        }
    }

    @Test func aClosedLinkDoesNothing() throws {
        let node = try FakeNode()
        node.link.close()
        node.link.close()
        #expect(throws: LinkError.removed) { try node.link.read(deadline: .soon) }
        #expect(throws: LinkError.removed) { try node.link.write(report, deadline: .soon) }
    }

    @Test func featureReportsOfWhatIsNoNodeFail() throws {
        let node = try FakeNode("05010906a10175089508b102c0")
        #expect(throws: LinkError.self) { try node.link.setFeature([1], deadline: .soon) }
        #expect(throws: LinkError.self) { try node.link.feature(deadline: .soon) }
        #expect(throws: LinkError.self) { try node.link.setFeature(report, deadline: .soon) }
    }
}

/// Opening what is there and what is not.
@Suite struct HIDRawOpenTests {
    @Test func whatIsNoDeviceIsToldApart() {
        #expect(throws: LinkError.noDevice(path: "/dev/hidraw-none")) {
            try HIDRaw.open("/dev/hidraw-none", deadline: .soon)
        }
        #expect(throws: LinkError.failed(code: UInt32(ENOTTY), "/dev/null is not a hidraw node")) {
            try HIDRaw.open("/dev/null", deadline: .soon)
        }
        #expect(throws: LinkError.self) { try HIDRaw.open("/tmp", deadline: .soon) }
        #expect(throws: LinkError.timedOut("the key to be opened")) {
            try HIDRaw.open("/dev/null", deadline: .after(.zero))
        }
    }

    @Test func aLockOfSomebodyElseIsWaitedForUntilTheDeadline() throws {
        // Some file systems, overlays among them, name another device in stat(2) than in /proc/locks; a tmpfs does not, as
        // little as the file system of the devices.
        let shared = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let path = "\(shared)/ykit-\(UUID().uuidString)"
        let first = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        let second = Glibc.open(path, O_RDWR | O_CLOEXEC)
        defer {
            close(first)
            close(second)
            unlink(path)
        }
        try HIDRawLink.lock(first, path, .soon)
        expect(Processes.lockers(of: path), is: [getpid()])
        #expect(Processes.open(by: getpid()).contains(path))
        #expect(throws: LinkError.busy(reader: path, holders: [])) {
            try HIDRawLink.lock(second, path, .after(.milliseconds(30)))
        }
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(throws: LinkError.cancelled) {
            try HIDRawLink.lock(second, path, .after(.seconds(20), cancellation: cancellation))
        }
        flock(first, LOCK_UN)
        try HIDRawLink.lock(second, path, .soon)
    }

    @Test("a link that rests lets others lock the node, and waits for them before its next report")
    func rests() throws {
        let path = "\(NSTemporaryDirectory())/ykit-\(UUID().uuidString)"
        mkfifo(path, 0o600)
        let (own, other) = (Glibc.open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), Glibc.open(path, O_RDWR | O_CLOEXEC))
        defer {
            close(other)
            unlink(path)
        }
        try HIDRawLink.lock(own, path, .soon)
        let descriptor = try HIDReportDescriptor(decoding: try Hex.decode(FakeNode.fido))
        let link = HIDRawLink(own, ReportIdentity(path: path), descriptor)
        let report = [UInt8](repeating: 7, count: 64)
        try link.write(report, deadline: .soon)
        #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
        link.rest()
        expect(flock(other, LOCK_EX | LOCK_NB), is: 0)
        #expect(throws: LinkError.busy(reader: path, holders: Processes.holders(of: path))) {
            try link.write(report, deadline: .after(.milliseconds(30)))
        }
        flock(other, LOCK_UN)
        try link.write(report, deadline: .soon)
        #expect(flock(other, LOCK_EX | LOCK_NB) != 0)
        link.close()
        link.rest()
    }

    @Test("the end of another program's use of a node is noticed, also after the node was moved")
    func closings() async throws {
        let path = "\(NSTemporaryDirectory())/ykit-\(UUID().uuidString)"
        try Data().write(to: URL(filePath: path))
        let closings = try #require(NodeClosings(path))
        #expect(NodeClosings(path + ".none") == nil)
        expect(rename(path, path + ".moved"), is: 0)
        defer { unlink(path + ".moved") }
        close(Glibc.open(path + ".moved", O_RDONLY))
        let cancellation = Cancellation()
        cancellation.cancel()
        #expect(!closings.wait(until: [cancellation]))
        close(Glibc.open(path + ".moved", O_RDWR))
        #expect(try await onThread { closings.wait(until: []) })
    }

    @Test func theRowsOfTheLockTableAreRead() {
        let table = """
            1: FLOCK  ADVISORY  WRITE 812 00:05:1034 0 EOF
            2: FLOCK  ADVISORY  WRITE 813 00:05:11034 0 EOF
            2: -> FLOCK  ADVISORY  WRITE 814 00:05:1034 0 EOF
            3: POSIX  ADVISORY  WRITE 815 00:05:1034 0 EOF
            4: FLOCK  ADVISORY  WRITE 816 00:1a:1034 0 EOF
            5: FLOCK  ADVISORY  READ 817 103:0a:1034 0 EOF
            6: FLOCK  ADVISORY  READ 817 103:0a:1034 0 EOF
            7: FLOCK  ADVISORY  READ 818 103:0a:1034 0 EOF
            8: FLOCK  ADVISORY  READ 819 103:1034 0 EOF
            9: FLOCK  ADVISORY  READ 820 x:05:1034 0 EOF
            nonsense
            """
        let lockers = { Processes.lockers(fileSystem: .init(major: $0, minor: $1), inode: 1034, in: table) }
        expect(lockers(0, 5), is: [812])
        expect(lockers(0, 26), is: [816])
        expect(lockers(0x103, 10), is: [817, 818])
    }

    @Test func whoHasAFileOpenIsFoundAlsoWithoutALock() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("ykit-\(UUID().uuidString)").path
        try Data().write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        let (process, leash) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exec 7<\(path); echo; read line"]
        let output = Pipe()
        (process.standardInput, process.standardOutput) = (leash, output)
        try process.run()
        _ = output.fileHandleForReading.availableData
        expect(Processes.holders(of: path).map(\.pid), is: [process.processIdentifier])
        try leash.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(Processes.holders(of: path).isEmpty)
    }
}
