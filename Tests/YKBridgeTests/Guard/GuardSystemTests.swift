// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKFIDO
import YKInteraction
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge
@testable import YKHardware

/// The system part of a guard in a folder that is its machine: nodes are pipes, /dev/uhid is a socket.
final class GuardBench: Sendable {
    private let folder = "/tmp/ykguard.\(UInt32.random(in: 0 ... .max))"
    private let stop = Cancellation()
    private let ended = Semaphore()
    private let log = Mutex((events: [GuardEvent](), failure: GuardError?.none))
    /// Takes the events of keys.
    private let follower = Mutex<(@Sendable (HIDEvent) -> Void)?>(nil)
    /// The kernel's files, one for each device that is created.
    private let kernels = Mutex<[FarKernel]>([])

    /// Whether udev has applied its rules.
    let isReady = Atomic(true)

    init() throws {
        for name in ["", "/dev", "/sys", "/sys/class", "/sys/class/hidraw"] { mkdir(folder + name, 0o755) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var socket: String { folder + "/run/guard.sock" }
    var heard: [GuardEvent] { log.withLock { $0.events } }
    var failure: GuardError? { log.withLock { $0.failure } }
    /// The kernel's view of the device that was created last.
    var kernel: FarKernel? { kernels.withLock { $0.last } }

    /// Plugs in a key.
    func plug(_ number: Int) throws {
        mkfifo("\(folder)/dev/hidraw\(number)", 0o660)
        mkdir("\(folder)/sys/class/hidraw/hidraw\(number)", 0o755)
        try Data("0:0\n".utf8).write(to: URL(filePath: "\(folder)/sys/class/hidraw/hidraw\(number)/dev"))
        follower.withLock { $0 }?(.arrived(device(number)))
    }

    /// Unplugs it: the kernel removes the node by its name.
    func unplug(_ number: Int) throws {
        unlink("\(folder)/dev/hidraw\(number)")
        try FileManager.default.removeItem(atPath: "\(folder)/sys/class/hidraw/hidraw\(number)")
        follower.withLock { $0 }?(.left(device(number)))
    }

    private func device(_ number: Int) -> HIDDevice {
        HIDDevice(
            path: "\(folder)/dev/hidraw\(number)", sysPath: "\(folder)/sys/class/hidraw/hidraw\(number)",
            vendor: 0x1050,
            product: 0x0407, name: "Key", usage: .fido, inputReportLength: 64, outputReportLength: 64,
            featureReportLength: 0, access: .readable)
    }

    /// Whether programs find the node of a key, and whether it is taken.
    func place(_ number: Int) -> (free: Bool, taken: Bool) {
        let (free, taken) = ("\(folder)/dev/hidraw\(number)", "\(folder)/dev/ykit-guard/hidraw\(number)")
        return (access(free, F_OK) == 0, access(taken, F_OK) == 0)
    }

    /// Waits until a key is taken, or free.
    func waits(_ number: Int, isTaken: Bool) async -> Bool {
        for _ in 0..<1000 {
            if place(number) == (!isTaken, isTaken) { return true }
            try? await Task.sleep(for: .milliseconds(10))
        }
        return false
    }

    /// - Parameter change: Changes the machine.
    func run(
        _ change: (inout GuardSystem.Machine) -> Void = { _ in }, _ body: (GuardBench) async throws -> Void
    ) async throws {
        var machine = GuardSystem.Machine()
        machine.socket = socket
        machine.nodes = TakenNodes(devices: folder + "/dev", system: folder + "/sys", kind: S_IFIFO)
        machine.follow = { [self] report in
            follower.withLock { $0 = report }
            return { [self] in follower.withLock { $0 = nil } }
        }
        machine.blindBrowsers = { [] }
        machine.isReady = { [self] _ in isReady.load(ordering: .acquiring) }
        machine.open = { [self] in
            let kernel = FarKernel()
            kernels.withLock { $0.append(kernel) }
            return (kernel.served, 0)
        }
        change(&machine)
        let system = try GuardSystem(
            .user(geteuid(), name: "alice"), machine, program: "1", cancellation: stop,
            report: { [self] event in log.withLock { $0.events.append(event) } })
        let isStarted = SystemThread.start { [self] in
            do throws(GuardError) { try system.run() } catch { log.withLock { $0.failure = error } }
            ended.post()
        }
        #expect(isStarted)
        for _ in 0..<1000 where heard.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        defer { stop.cancel() }
        try await body(self)
        stop.cancel()
        try await onThread { [self] in #expect(ended.wait(milliseconds: 60_000)) }
        expect(failure, is: nil)
    }

    /// The user's part, which has the virtual key: serves until the connection ends.
    func serve(_ connection: GuardConnection, _ user: NearUser, _ stop: Cancellation) async throws {
        let end = NearEnd(
            guarding: GuardPolicy(), programs: { ["browser"] }, socket: connection.descriptor, program: "1",
            person: user, cancellations: [stop])
        let service = try await FIDOService.open(hid: try VirtualKey.new().reportLink(), environment: .instant)
        try await end.run(service)
    }

    /// What the system part says to a request.
    func notice(_ request: GuardRequest) async throws -> GuardNotice {
        try await onThread { [socket] in
            try GuardConnection(request, at: socket).notice(until: [])
        }
    }

    /// The next notice on a connection.
    func notice(on connection: GuardConnection) async throws -> GuardNotice {
        try await onThread { try connection.notice(until: []) }
    }
}

@Suite(.serialized) struct GuardSystemTests {
    @Test("the key is taken while it is guarded, and given back when the user's part ends")
    func takenAndGivenBack() async throws {
        try await GuardBench().run { bench in
            try bench.plug(3)
            let connection = try GuardConnection(.serve, at: bench.socket)
            var notice = try await bench.notice(on: connection)
            if notice == .waiting { notice = try await bench.notice(on: connection) }
            expect(notice, is: .key(node: "hidraw3"))
            #expect(bench.place(3) == (false, true))
            let stop = Cancellation()
            let user = NearUser(true)
            let near = Task { try await bench.serve(connection, user, stop) }
            for _ in 0..<1000 where bench.kernel == nil { try await Task.sleep(for: .milliseconds(10)) }
            let kernel = try #require(bench.kernel)
            #expect(await kernel.waits(isPluggedIn: true))
            nonisolated(unsafe) let program: any ReportLink = FarProgram(kernel)
            let client = try await FIDOService.open(
                hid: program, environment: ServiceEnvironment(timeout: .seconds(60)))
            try await expect(bench.notice(.status), is: .state(GuardState(process: getpid(), node: "hidraw3")))
            _ = try await client.register(
                RegistrationRequest(
                    clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: "ssh:"),
                    user: FIDOUser(id: [1], name: "alice")))
            expect(user.asked, is: [.register(site: "ssh:", user: "alice")])
            await client.close()
            try await expect(bench.notice(.serve), is: .busy(getpid()))
            stop.cancel()
            try await near.value
            #expect(await bench.waits(3, isTaken: false))
            #expect(!kernel.isPluggedIn)
        }
    }

    @Test("a pause gives the key back, and its end takes it again")
    func paused() async throws {
        try await GuardBench().run { bench in
            try bench.plug(0)
            let connection = try GuardConnection(.serve, at: bench.socket)
            #expect(await bench.waits(0, isTaken: true))
            try await expect(bench.notice(.pause(300)), is: .done)
            #expect(bench.place(0) == (true, false))
            withExtendedLifetime(connection) {}
            let again = try GuardConnection(.serve, at: bench.socket)
            guard case .paused(let seconds) = try await bench.notice(on: again) else {
                Issue.record("no pause")
                return
            }
            #expect((290...300).contains(seconds))
            try await expect(bench.notice(.resume), is: .done)
            try await expect(bench.notice(on: again), is: .key(node: "hidraw0"))
        }
    }

    @Test("a key that is unplugged leaves no node behind, and one that comes later is taken")
    func unplugged() async throws {
        try await GuardBench().run { bench in
            try bench.plug(1)
            let connection = try GuardConnection(.serve, at: bench.socket)
            #expect(await bench.waits(1, isTaken: true))
            try bench.unplug(1)
            for _ in 0..<1000 where bench.place(1).taken { try await Task.sleep(for: .milliseconds(10)) }
            #expect(bench.place(1) == (false, false))
            withExtendedLifetime(connection) {}
            let again = try GuardConnection(.serve, at: bench.socket)
            try await expect(bench.notice(on: again), is: .waiting)
            try bench.plug(2)
            try await expect(bench.notice(on: again), is: .key(node: "hidraw2"))
        }
    }

    @Test("a new node is taken once udev has applied its rules, which look for it by its usual path")
    func rulesFirst() async throws {
        try await GuardBench().run { bench in
            bench.isReady.store(false, ordering: .releasing)
            try bench.plug(1)
            let connection = try GuardConnection(.serve, at: bench.socket)
            try await Task.sleep(for: .milliseconds(300))
            #expect(bench.place(1) == (true, false))
            bench.isReady.store(true, ordering: .releasing)
            #expect(await bench.waits(1, isTaken: true))
            withExtendedLifetime(connection) {}
        }
    }

    @Test("the key stays where it is if a browser would not find the guard, unless programs see the key's own numbers")
    func blindBrowsers() async throws {
        try await GuardBench().run({ $0.blindBrowsers = { ["firefox"] } }) { bench in
            try bench.plug(0)
            try await expect(bench.notice(.serve), is: .unseen(["firefox"]))
            #expect(bench.place(0) == (true, false) && bench.heard.contains(.unseen(["firefox"])))
        }
        for showsKey in [false, true] {
            let change = { (machine: inout GuardSystem.Machine) in
                machine.showsKey = showsKey
                if showsKey { machine.blindBrowsers = { ["firefox"] } }
            }
            try await GuardBench().run(change) { bench in
                try bench.plug(0)
                let connection = try GuardConnection(.serve, at: bench.socket)
                #expect(await bench.waits(0, isTaken: true))
                let notice = try await bench.notice(on: connection)
                expect(notice, is: .key(node: "hidraw0"))
                let stop = Cancellation()
                let near = Task { try await bench.serve(connection, NearUser(true), stop) }
                for _ in 0..<1000 where bench.kernel?.isPluggedIn != true {
                    try await Task.sleep(for: .milliseconds(10))
                }
                expect(bench.kernel?.numbers, is: (showsKey ? [0x1050, 0x0407] : [0x1209, 0x796B]))
                stop.cancel()
                try await near.value
            }
        }
    }

    @Test("a user who is away is noted as long as the connection lasts, and the key stays free")
    func away() async throws {
        try await GuardBench().run { bench in
            try bench.plug(0)
            do {
                let connection = try GuardConnection(.away(.locked), at: bench.socket)
                try await expect(bench.notice(on: connection), is: .done)
                try await expect(bench.notice(.status), is: .state(GuardState(process: getpid(), absence: .locked)))
                #expect(bench.place(0) == (true, false))
                withExtendedLifetime(connection) {}
            }
            for _ in 0..<1000 where try await bench.notice(.status) != .state(GuardState()) {}
            try await expect(bench.notice(.status), is: .state(GuardState()))
        }
    }

    @Test("what is no request is not answered")
    func junk() async throws {
        try await GuardBench().run { bench in
            for bytes in [Array("GET / HTTP/1.1\n".utf8), [UInt8](repeating: 0, count: 200), RemoteFrame.greeting] {
                let descriptor = try #require(LocalSocket.connect(bench.socket, within: .seconds(3)))
                defer { close(descriptor) }
                _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                let count = try await onThread {
                    var byte: UInt8 = 0
                    return recv(descriptor, &byte, 1, 0)
                }
                #expect(count <= 0)
            }
            try await expect(bench.notice(.status), is: .state(GuardState()))
        }
    }

    @Test("a user's part that ends without a word gives the key back, ten times in a row")
    func hangsUp() async throws {
        try await GuardBench().run { bench in
            try bench.plug(0)
            for _ in 0..<10 {
                do {
                    let connection = try GuardConnection(.serve, at: bench.socket)
                    #expect(await bench.waits(0, isTaken: true))
                    withExtendedLifetime(connection) {}
                }
                #expect(await bench.waits(0, isTaken: false))
                for _ in 0..<1000 where try await bench.notice(.status) != .state(GuardState()) {}
            }
        }
    }
}
