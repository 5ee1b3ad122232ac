// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

/// Runs other programs with data on standard input, and with no secret among the arguments.
enum Spawn {
    /// The exit status and the output of a program.
    struct Result {
        var status: Int32
        var output: [UInt8]
    }

    /// Finds a program on the PATH; relative folders in it are not searched.
    static func find(_ name: String) -> String? {
        let path = Variables["PATH"] ?? "/usr/bin:/bin"
        return path.split(separator: ":").lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    /// The timeout for a program, long enough for a person to unlock a keyring.
    static let limit = Duration.seconds(60)

    /// Runs a program until it exits; kills it after the timeout or on an interruption.
    static func run(
        _ program: String, _ arguments: [String], input: [UInt8] = [], within limit: Duration = limit
    ) throws(Explanation) -> Result {
        let stdin = try memory(input)
        defer { close(stdin) }
        let stdout = try memory([])
        defer { close(stdout) }
        let child = try start(program, arguments, stdin: stdin, stdout: stdout)
        let status = try end(of: child, program, .after(limit))
        lseek(stdout, 0, SEEK_SET)
        let output = try Files.read(descriptor: stdout, program)
        return Result(status: status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F, output: output)
    }

    /// Waits for a program to exit, and kills it if it does not.
    private static func end(of child: pid_t, _ program: String, _ deadline: Deadline) throws(Explanation) -> Int32 {
        var status: Int32 = 0
        while true {
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status }
            guard ended == 0 || errno == EINTR else { throw failure(program) }
            if deadline.isOver || Interruption.happened {
                kill(child, SIGKILL)
                waitpid(child, nil, 0)
                guard !Interruption.happened else { throw Explain.interrupted }
                throw Explanation(
                    "spawn", .timeOut, "\(program) did not end in time", hint: "does it wait for somebody to unlock it?"
                )
            }
            Pause.step(deadline, atMost: 5)
        }
    }

    /// Starts a detached program with bytes on its standard input.
    static func detach(_ program: String, _ arguments: [String], input: [UInt8]) throws(Explanation) {
        let stdin = try memory(input)
        defer { close(stdin) }
        let null = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(null) }
        _ = try start(program, arguments, stdin: stdin, stdout: null, isDetached: true)
    }

    /// A program that writes lines while it runs.
    final class Stream: Sendable {
        private let child: pid_t
        private let output: Int32

        fileprivate init(child: pid_t, output: Int32) { (self.child, self.output) = (child, output) }

        /// Calls `body` with each line, truncated to 4096 bytes, until the program exits.
        func lines(_ body: (String) -> Void) {
            var line: [UInt8] = []
            var block = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = read(output, &block, block.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                for byte in block[..<count] {
                    if byte == 0x0A {
                        body(String(decoding: line, as: UTF8.self))
                        line = []
                    } else if line.count < 4096 {
                        line.append(byte)
                    }
                }
            }
            close(output)
            waitpid(child, nil, 0)
        }

        /// Terminates the program, after which ``lines(_:)`` returns.
        func end() { kill(child, SIGTERM) }
    }

    /// Starts a program that writes lines.
    static func stream(_ program: String, _ arguments: [String]) throws(Explanation) -> Stream {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw failure(program) }
        defer { close(ends[1]) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(null) }
        do { return Stream(child: try start(program, arguments, stdin: null, stdout: ends[1]), output: ends[0]) } catch
        {
            close(ends[0])
            throw error
        }
    }

    /// Creates an in-memory file with these bytes, positioned at its start.
    static func memory(_ bytes: [UInt8]) throws(Explanation) -> Int32 {
        let name = "/ykit-\(getpid())-\(UInt64.random(in: .min ... .max))"
        let descriptor = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("memory") }
        shm_unlink(name)
        Terminal.write(bytes, to: descriptor)
        lseek(descriptor, 0, SEEK_SET)
        return descriptor
    }

    private static func start(
        _ program: String, _ arguments: [String], stdin: Int32, stdout: Int32, isDetached: Bool = false
    ) throws(Explanation) -> pid_t {
        OneProcessor.leave()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, stdin, 0)
        posix_spawn_file_actions_adddup2(&actions, stdout, 1)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        if isDetached { posix_spawnattr_setflags(&attributes, setSession) }
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var child = pid_t()
        guard posix_spawn(&child, program, &actions, &attributes, &words, environ) == 0 else { throw failure(program) }
        return child
    }

    /// POSIX_SPAWN_SETSID, a macro that requires _GNU_SOURCE: starts a new session.
    private static let setSession: Int16 = 0x80

    private static func failure(_ program: String) -> Explanation {
        Explanation("spawn", .failed, "cannot run \(program): \(System.failure)")
    }
}
