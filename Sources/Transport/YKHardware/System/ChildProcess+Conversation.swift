// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKTransport

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
