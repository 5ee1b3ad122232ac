// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Synchronization
import Testing
import YKCrypto
import YKInteraction
import YKKeys
import YKTestSupport
import YKTransport
import YKVirtualKey

@testable import TerminalIO
@testable import Verbs

extension Run {
    /// What a line printed, and how it ended.
    struct Tested: Sendable {
        let output: String
        let errors: String
        let status: Int32
    }

    /// Runs a line of the program in this process, on a thread and a stage of its own. Names of files are relative to a
    /// folder of the test, so that many lines run at once.
    ///
    /// - Parameters:
    ///   - words: What follows `ykit`.
    ///   - key: The key, instead of the one that the line names.
    ///   - person: Who is asked; by default nobody.
    ///   - folder: The folder in which it runs, which is also the home folder.
    static func test(
        _ words: [String], key: VirtualKey? = nil, person: any Person = NoPerson(), in folder: URL,
        variables: [String: String] = [:]
    ) async throws -> Tested {
        _ = Commands.root
        var variables = variables
        variables["HOME"] = folder.path
        let streams = CapturedStreams()
        var environment = ServiceEnvironment()
        environment.cancellation = Cancellation()
        let stage = Stage.test(person: person, streams: streams, variables: variables, environment: environment)
        let source: KeyRing.Source? = key.map { .virtual($0, faults: FaultPlan()) }
        let status = try await onThread {
            try FolderOfThread.enter(folder.path)
            return ThreadLoop().run { await Program.run(words, on: stage, source: source).rawValue }
        }
        return Tested(output: streams.output, errors: streams.errors, status: status)
    }
}

/// The working folder of a thread and of those that it starts, apart from that of the process (unshare(2), CLONE_FS).
private enum FolderOfThread {
    static func enter(_ path: String) throws {
        typealias Unshare = @convention(c) (Int32) -> Int32
        let unshare = try #require(dlsym(nil, "unshare").map { unsafeBitCast($0, to: Unshare.self) })
        guard unshare(0x200) == 0, chdir(path) == 0 else { throw LinkError.timedOut("the folder of a thread") }
    }
}

/// Runs the tasks of a line on the thread that waits for it, as `MainLoop` does in the program.
private final class ThreadLoop: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let result = Mutex<Int32?>(nil)
    private let wake = YKTransport.Semaphore()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
        wake.post()
    }

    func run(_ body: @escaping @Sendable () async -> Int32) -> Int32 {
        Task(executorPreference: self) {
            let status = await body()
            self.result.withLock { $0 = status }
            self.wake.post()
        }
        while true {
            wake.wait()
            if let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
            if let status = result.withLock({ $0 }) { return status }
        }
    }
}
