// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
import Synchronization
package import YKTransport

/// Runs other programs with data on standard input, and with no secret among the arguments and variables.
package enum ChildProcess {
    /// The exit status and the output of a program.
    package struct Ending: Sendable {
        package var status: Int32
        package var output: [UInt8]
        /// What it wrote to standard error, if that is kept.
        package var errors: [UInt8]

        package init(status: Int32, output: [UInt8], errors: [UInt8] = []) {
            (self.status, self.output, self.errors) = (status, output, errors)
        }
    }

    /// Finds a program in the folders of `path`; relative folders are not searched.
    package static func find(_ name: String, path: String? = ProcessVariables["PATH"]) -> String? {
        (path ?? "/usr/bin:/bin").split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    /// The usual timeout for a program, long enough for a person to unlock a keyring.
    package static let limit = Duration.seconds(60)

    /// The maximum size of a program's output.
    private static let outputLimit = 64 << 20

    private static let isWithheld = Mutex<@Sendable (_ name: String) -> Bool>({ _ in false })

    /// Sets which environment variables are withheld from all programs, since they may hold a secret.
    package static func withhold(_ isWithheld: @escaping @Sendable (_ name: String) -> Bool) {
        Self.isWithheld.withLock { $0 = isWithheld }
    }

    /// Runs a program until it exits; kills it when the deadline expires or the operation is cancelled.
    ///
    /// - Parameters:
    ///   - second: Bytes that it reads from descriptor 3.
    ///   - variables: Variables that it gets besides those of this process.
    ///   - hasTerminal: Whether it keeps the terminal of this process; without it, the program cannot be stopped for
    ///     using the terminal in the background.
    ///   - keepsErrors: Whether what it writes to standard error is kept.
    package static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], second: [UInt8]? = nil,
        variables: [String: String] = [:], hasTerminal: Bool = true, keepsErrors: Bool = false, deadline: Deadline
    ) throws(ProgramError) -> Ending {
        let stdin = try memory(input)
        defer { close(stdin) }
        let stdout = try memory([])
        defer { close(stdout) }
        let stderr = keepsErrors ? try memory([]) : nil
        defer { if let stderr { close(stderr) } }
        let third: Int32? = if let second { try memory(second) } else { nil }
        defer { if let third { close(third) } }
        // ^C ends this program after the other one, not beside it.
        let unfinished = UnfinishedWork.Hold()
        defer { withExtendedLifetime(unfinished) {} }
        let child = try start(
            program, arguments, variables, stdin: stdin, stdout: stdout, stderr: stderr, third: third,
            isDetached: !hasTerminal)
        let status = try end(of: child, program, deadline)
        return Ending(
            status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F,
            output: try written(to: stdout, program),
            errors: try stderr.map { descriptor throws(ProgramError) in try written(to: descriptor, program) } ?? [])
    }

    /// Reads an in-memory file straight into the array that is returned: the output may be a secret, and a buffer or an
    /// array that grows leaves copies behind.
    private static func written(to file: Int32, _ program: String) throws(ProgramError) -> [UInt8] {
        let size = lseek(file, 0, SEEK_END)
        guard size >= 0 else { throw failure(program) }
        guard size <= outputLimit else { throw .tooMuchOutput(program: program, limit: outputLimit) }
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            repeat {
                result = pread(file, buffer.baseAddress?.advanced(by: count), size - count, count)
                count += max(0, result)
            } while result > 0 && count < size || result < 0 && errno == EINTR
        }
        guard result >= 0 else { throw failure(program) }
        return bytes
    }

    /// Waits for a program to exit, and kills it if it does not.
    private static func end(of child: pid_t, _ program: String, _ deadline: Deadline) throws(ProgramError) -> Int32 {
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status }
            guard ended == 0 || errno == EINTR else { throw failure(program) }
            let isCancelled = deadline.isCancelled
            if deadline.isOver || isCancelled {
                kill(child, SIGKILL)
                waitpid(child, nil, 0)
                throw isCancelled ? .cancelled : .timedOut(program: program)
            }
            Pause.step(deadline, atMost: 5)
        }
    }

    /// Starts a detached program with bytes on its standard input.
    package static func detach(_ program: String, _ arguments: [String], input: [UInt8]) throws(ProgramError) {
        let stdin = try memory(input)
        defer { close(stdin) }
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        _ = try start(program, arguments, stdin: stdin, stdout: null, isDetached: true)
    }

    /// Creates an in-memory file with these bytes, positioned at its start.
    private static func memory(_ bytes: [UInt8]) throws(ProgramError) -> Int32 {
        let name = "/ykit-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("memory") }
        shm_unlink(name)
        do { try NewFile.write(bytes, to: descriptor, "memory") } catch {
            close(descriptor)
            throw .failed(program: "memory", reason: error.reason)
        }
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    /// Starts a program on these descriptors; its standard error is discarded unless there is a descriptor for it.
    static func start(
        _ program: String, _ arguments: [String], _ variables: [String: String] = [:], stdin: Int32, stdout: Int32,
        stderr: Int32? = nil, third: Int32? = nil, isDetached: Bool = false
    ) throws(ProgramError) -> pid_t {
        ykit_leave_processor()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        if let stderr {
            posix_spawn_file_actions_adddup2(&actions, stderr, 2)
        } else {
            posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        if let third { posix_spawn_file_actions_adddup2(&actions, third, 3) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if isDetached { posix_spawnattr_setflags(&attributes, setSession) }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        var environment = inherited(besides: variables) + [nil]
        defer { environment.forEach { free($0) } }
        let status = posix_spawn(&child, program, &actions, &attributes, &words, &environment)
        guard status == 0 else { throw .failed(program: program, reason: String(cString: strerror(status))) }
        return child
    }

    /// The variables of a program, `NAME=value` each: those of this process that are not withheld, and the given ones,
    /// which replace those with the same name.
    private static func inherited(besides others: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        let isWithheld = isWithheld.withLock { $0 }
        var copies: [UnsafeMutablePointer<CChar>?] = []
        var next = environ
        while let entry = next.pointee {
            next += 1
            let size = strcspn(entry, "=")
            let name = String(decoding: UnsafeRawBufferPointer(start: entry, count: size), as: UTF8.self)
            if others[name] == nil, !isWithheld(name) { copies.append(strdup(entry)) }
        }
        return copies + others.map { strdup("\($0)=\($1)") }
    }

    /// POSIX_SPAWN_SETSID, a macro that requires _GNU_SOURCE: starts a new session.
    private static let setSession: Int16 = 0x80

    static func failure(_ program: String) -> ProgramError {
        .failed(program: program, reason: String(cString: strerror(errno)))
    }
}

/// Why another program failed.
public enum ProgramError: Error, Hashable, Sendable {
    /// The system could not run it; the reason is the system's.
    case failed(program: String, reason: String)
    /// It did not exit in time, and was killed.
    case timedOut(program: String)
    /// The operation was cancelled, and the program was killed.
    case cancelled
    /// Its output is larger than this many bytes.
    case tooMuchOutput(program: String, limit: Int)
}

/// How other programs are found and run. Tests have their own.
package struct ProgramRunner: Sendable {
    /// Returns the path of a program; `nil` if it is not installed.
    package var find: @Sendable (_ name: String) -> String?
    /// Runs a program with bytes on its standard input, and with variables besides those of this process.
    package var run: Run

    package typealias Run =
        @Sendable (_ path: String, _ arguments: [String], _ input: [UInt8], _ variables: [String: String])
        throws(ProgramError) -> ChildProcess.Ending

    package init(find: @escaping @Sendable (_ name: String) -> String?, run: @escaping Run) {
        self.find = find
        self.run = run
    }

    /// The programs of this machine; each has a timeout of a minute, or `limit`.
    package static func system(
        _ cancellation: Cancellation, limit: Duration = ChildProcess.limit, hasTerminal: Bool = true
    ) -> ProgramRunner {
        ProgramRunner(find: { ChildProcess.find($0) }) { path, arguments, input, variables throws(ProgramError) in
            try ChildProcess.run(
                path, arguments, input: input, variables: variables, hasTerminal: hasTerminal,
                deadline: .after(limit, cancellation: cancellation))
        }
    }
}

/// The environment variables of the process.
package enum ProcessVariables {
    /// The value of a variable; `nil` if it is not set or empty.
    package static subscript(name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }
}

extension ChildProcess {
    /// A program that is written to and read from while it runs. It keeps the terminal of this process.
    package final class Conversation: Sendable {
        /// How long the program may take to end by itself.
        private static let patience = Duration.seconds(3)

        /// The descriptor for writing to the program.
        package let input: Int32
        /// The descriptor for reading from the program.
        package let output: Int32
        private let errors: Int32
        private let child: pid_t
        /// Posted when standard error has been read to its end.
        private let isRead = Semaphore()

        fileprivate init(child: pid_t, input: Int32, output: Int32, errors: Int32) {
            self.child = child
            (self.input, self.output, self.errors) = (input, output, errors)
        }

        deinit { close(errors) }

        /// Calls `body`, on a separate thread, with each line that the program writes to standard error, split into
        /// pieces of 4096 bytes.
        package func errorLines(_ body: @escaping @Sendable (String) -> Void) {
            let isStarted = SystemThread.start { [self] in
                var line: [UInt8] = []
                var block = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(errors, &block, block.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    for byte in block[..<count] {
                        if byte != 0x0A { line.append(byte) }
                        guard byte == 0x0A || line.count == 4096 else { continue }
                        body(String(decoding: line, as: UTF8.self))
                        line = []
                    }
                }
                if !line.isEmpty { body(String(decoding: line, as: UTF8.self)) }
                isRead.post()
            }
            if !isStarted { isRead.post() }
        }

        /// Closes both directions and waits for the program to end; it is terminated after three seconds, and killed after
        /// another three. Called once, after ``errorLines(_:)``.
        ///
        /// - Returns: Its exit status, or 128 and the signal that ended it.
        package func end() -> Int32 {
            let status = ended()
            // Another process may still hold the descriptor.
            _ = isRead.wait(milliseconds: 1000)
            return status
        }

        private func ended() -> Int32 {
            close(input)
            close(output)
            for signal in [SIGTERM, SIGKILL] {
                let deadline = Deadline.after(Self.patience)
                var status: Int32 = 0
                while !deadline.isOver {
                    let ended = waitpid(child, &status, WNOHANG)
                    if ended == child { return status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F }
                    guard ended == 0 || errno == EINTR else { return 128 }
                    Pause.step(deadline, atMost: 20)
                }
                kill(child, signal)
            }
            waitpid(child, nil, 0)
            return 128 + SIGKILL
        }
    }

    /// Starts a program for a conversation.
    package static func converse(_ program: String, _ arguments: [String]) throws(ProgramError) -> Conversation {
        var pipes: [[Int32]] = []
        var isStarted = false
        defer {
            // The program's ends, and those of this process if it was not started.
            for (index, ends) in pipes.enumerated() {
                close(ends[index == 0 ? 0 : 1])
                if !isStarted { close(ends[index == 0 ? 1 : 0]) }
            }
        }
        for _ in 0..<3 {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { throw failure(program) }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            pipes.append(ends)
        }
        let child = try start(program, arguments, stdin: pipes[0][0], stdout: pipes[1][1], stderr: pipes[2][1])
        isStarted = true
        return Conversation(child: child, input: pipes[0][1], output: pipes[1][0], errors: pipes[2][0])
    }
}
