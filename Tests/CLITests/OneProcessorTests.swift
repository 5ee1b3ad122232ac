// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import Synchronization
import Testing
import YKHardware
import YKInteraction
import YKTestSupport
import YKTransport

@testable import TerminalIO
@testable import Verbs

/// Threads are kept on one processor, and let go again. One after the other: where threads may run is known once for the
/// process.
@Suite(.serialized) struct OneProcessorTests {
    /// The processors of the calling thread, as the kernel lists them.
    private static func processors(_ file: String = "/proc/thread-self/status") -> String {
        guard let bytes = try? Files.read(file) else { return "" }
        return of(String(decoding: bytes, as: UTF8.self))
    }

    private static func of(_ status: String) -> String {
        let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
        return line.map { String($0.drop { $0 != "\t" }.dropFirst()) } ?? ""
    }

    /// Runs on a thread of its own, so that no thread of Swift's pool is kept.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
        let (box, ended) = (Box<Value>(), Semaphore())
        guard
            SystemThread.start({
                box.value.withLock { $0 = body() }
                ended.post()
            }), ended.wait(milliseconds: 20_000)
        else { return nil }
        return box.value.withLock { $0 }
    }

    private final class Box<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    @Test func aThreadAndThoseItStartsAreKeptAndLetGo() throws {
        let seen = try #require(
            Self.onThread { () -> [String] in
                let usual = Self.processors()
                ykit_keep_processor()
                let kept = Self.processors()
                let (isAsked, isFree) = (Semaphore(), Semaphore())
                let started = Self.onThread { Self.processors() } ?? ""
                let later = Box<String>()
                _ = SystemThread.start {
                    isAsked.post()
                    _ = isFree.wait(milliseconds: 20_000)
                    later.value.withLock { $0 = Self.processors() }
                    isAsked.post()
                }
                _ = isAsked.wait(milliseconds: 20_000)
                OneProcessor.leave()
                isFree.post()
                _ = isAsked.wait(milliseconds: 20_000)
                return [usual, kept, started, Self.processors(), later.value.withLock { $0 } ?? ""]
            })
        #expect(Int(seen[1]) != nil, "one processor, not \(seen[1])")
        expect(seen[2], is: seen[1])
        expect(seen[3], is: seen[0])
        expect(seen[4], is: seen[0])
    }

    @Test func aProgramThatIsStartedMayUseAllProcessors() throws {
        let seen = try #require(
            Self.onThread { () -> (String, String) in
                let usual = Self.processors()
                ykit_keep_processor()
                let result = try? Stage.live.programs.run("/bin/cat", ["/proc/self/status"], [], [:])
                return (usual, Self.of(String(decoding: result?.output ?? [], as: UTF8.self)))
            })
        #expect(!seen.0.isEmpty && seen.1 == seen.0)
    }

    @Test func leavingWithoutHavingBeenKeptChangesNothing() throws {
        let usual = Self.processors()
        OneProcessor.leave()
        expect(Self.processors(), is: usual)
    }
}
