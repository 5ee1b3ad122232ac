// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import YKTestSupport
import YKTransport

@testable import YKHardware

extension RealPCSCD {
    /// What can be wrong with the service, with readers, and with who else uses them.
    @Suite struct ServiceTests {
        @Test func aServiceThatIsKilledInTheMiddleIsFoundAgain() throws {
            let lab = try Lab()
            let sandbox = lab.sandbox
            let first = try lab.plug { _ in
                try? sandbox.control(.kill)
                return .silence
            }
            let link = try lab.connect()
            _ = try link.begin(deadline: .soon)
            #expect(throws: LinkError.serviceNotRunning) { try link.exchange([0, 1, 2, 3], deadline: .soon) }
            #expect(throws: LinkError.serviceNotRunning) { try link.begin(deadline: .soon) }
            #expect(throws: LinkError.serviceNotRunning) { try lab.service.readers(.soon) }
            first.unplug()
            try sandbox.control(.start)
            #expect(throws: LinkError.noCard(reader: lab.readers[0])) { try link.begin(deadline: .soon) }
            let second = try lab.plug()
            try expect(lab.service.readers(.soon).map(\.hasCard), is: [true])
            try expect(link.begin(deadline: .soon), is: true)
            try expect(link.exchange([0, 1, 2, 3], deadline: .soon).count, is: 6)
            link.close()
            expect(second.commands.count, is: 1)
        }

        @Test func anotherCardAfterARestartIsNotTaken() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let link = try lab.connect()
            try lab.sandbox.control(.restart)
            _ = try lab.plug(atr: [0x3B, 0x00])
            #expect(throws: LinkError.removed) { try link.begin(deadline: .soon) }
        }

        @Test func aContextFromBeforeARestartIsReplaced() throws {
            let lab = try Lab()
            _ = try lab.service.readers(.soon)
            try lab.sandbox.control(.restart)
            try expect(lab.service.readers(.soon).map(\.name), is: lab.readers)
            try lab.sandbox.control(.restart)
            _ = try lab.plug()
            try lab.connect().close()
        }

        @Test func aFrozenServiceEndsWithTheDeadlineAndCollectsNoThreads() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let link = try lab.connect()
            try lab.sandbox.control(.freeze)
            // Threads go by the name of the thread that started them; other tests start some meanwhile.
            Self.call("stuck calls")
            defer { Self.call("tests") }
            for _ in 0..<(5 * StuckCalls.limit) {
                #expect(throws: LinkError.self) { try lab.service.readers(.after(.milliseconds(20))) }
            }
            #expect(throws: LinkError.timedOut("the card in \(lab.readers[0]) to be free")) {
                try link.begin(deadline: .after(.milliseconds(30)))
            }
            #expect((2...1 + 2 * StuckCalls.limit).contains(Self.namesakes))
            try lab.sandbox.control(.thaw)
            try expect(lab.service.readers(.soon).count, is: 1)
            try expect(link.begin(deadline: .soon), is: true)
            try expect(link.exchange([0, 1, 2, 3], deadline: .soon).count, is: 6)
            link.close()
        }

        @Test func aCancelledWaitReturnsAtOnce() throws {
            let lab = try Lab()
            try lab.sandbox.control(.freeze)
            let cancellation = Cancellation()
            let canceller = Canceller(cancellation, after: 30_000)
            #expect(throws: LinkError.cancelled) {
                try lab.service.readers(.after(.seconds(20), cancellation: cancellation))
            }
            #expect(canceller.elapsed() < .seconds(5))
            #expect(throws: LinkError.cancelled) {
                try lab.service.readers(.after(.seconds(20), cancellation: cancellation))
            }
            try lab.sandbox.control(.thaw)
        }

        @Test func noReaderAnUnknownOneAndAnEmptyOneAreToldApart() throws {
            let lab = try Lab()
            #expect(throws: LinkError.noCard(reader: lab.readers[0])) { try lab.connect() }
            #expect(throws: LinkError.unknownReader("nowhere")) {
                try lab.service.connect(reader: "nowhere", share: .shared, deadline: .soon)
            }
        }

        @Test func whoHoldsTheCardIsNamed() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let holder = try Holder(lab, sharing: "exclusive")
            defer { holder.end() }
            try lab.waitFor { $0.isExclusive }
            let busy = LinkError.busy(reader: lab.readers[0], holders: [.init(pid: holder.pid, name: holder.name)])
            #expect(throws: busy) { try lab.connect() }
            holder.end()
            try lab.waitFor { !$0.isInUse }
            try lab.connect().close()
        }

        @Test func anEndlessTransactionOfAnotherProgramIsBusy() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let link = try lab.connect()
            let holder = try Holder(lab, sharing: "transaction")
            let busy = LinkError.busy(reader: lab.readers[0], holders: [.init(pid: holder.pid, name: holder.name)])
            #expect(throws: busy) { try link.begin(deadline: .after(.milliseconds(500))) }
            #expect(throws: busy) { try lab.connect(deadline: .after(.milliseconds(500))) }
            holder.end()
            try expect(link.begin(deadline: .soon), is: true)
            link.close()
        }

        @Test func exclusiveKeepsOthersOff() throws {
            let lab = try Lab()
            _ = try lab.plug()
            let link = try lab.connect(share: .exclusive)
            #expect(throws: LinkError.busy(reader: lab.readers[0], holders: [])) { try lab.connect() }
            link.close()
            let shared = try lab.connect()
            #expect(throws: LinkError.busy(reader: lab.readers[0], holders: [])) { try lab.connect(share: .exclusive) }
            shared.close()
        }

        /// Gives this thread a name.
        private static func call(_ name: String) {
            let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
            _ = write(file, name, name.utf8.count)
            close(file)
        }

        private static var namesakes: Int {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.count { task in
                (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)) == "stuck calls\n"
            }
        }
    }
}
