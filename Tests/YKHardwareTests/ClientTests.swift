// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

/// Finding out which processes are connected to a socket.
@Suite struct ClientTests {
    @Test func brokenAnswersOfTheKernelAreRefused() {
        var rows: [SocketDiagnosis.Row] = []
        expect(SocketDiagnosis.read([], into: &rows), is: false)
        let end: [UInt8] = [20, 0, 0, 0, 3, 0] + [UInt8](repeating: 0, count: 14)
        expect(SocketDiagnosis.read(end, into: &rows), is: true)
        let error: [UInt8] = [20, 0, 0, 0, 2, 0] + [UInt8](repeating: 0, count: 14)
        expect(SocketDiagnosis.read(error, into: &rows), is: nil)
        let tooLong: [UInt8] = [255, 255, 255, 255, 20, 0] + [UInt8](repeating: 0, count: 14)
        expect(SocketDiagnosis.read(tooLong, into: &rows), is: nil)
        #expect(rows.isEmpty)
        let head = [UInt8](repeating: 0, count: 10) + [UInt8](repeating: 1, count: 16)
        let good: [UInt8] =
            [52, 0, 0, 0, 20, 0] + head + [12, 0, 1, 0, 5, 0, 0, 0, 9, 0, 0, 0] + [8, 0, 2, 0, 6, 0, 0, 0]
        expect(SocketDiagnosis.read(good, into: &rows), is: false)
        expect(rows, is: [SocketDiagnosis.Row(file: 5, peer: 6)])
        for length in 0..<good.count { _ = SocketDiagnosis.read(Array(good.prefix(length)), into: &rows) }
        for index in good.indices {
            var bytes = good
            bytes[index] = 0xFF
            _ = SocketDiagnosis.read(bytes, into: &rows)
        }
    }

    @Test func processesHaveTheNamesThatPeopleKnow() {
        expect(Processes.holder(getpid()).pid, is: getpid())
        #expect(Processes.holder(getpid()).name != "?")
        expect(Processes.holder(-1), is: .init(pid: -1, name: "?"))
        #expect(!ServiceClients.usesLibrary(-1))
        #expect(ServiceClients.sockets(of: -1).isEmpty)
        #expect(ServiceClients.others(of: "/tmp/ykit-no-such-folder/pcscd.comm").allSatisfy { $0.pid != getpid() })
    }
}
