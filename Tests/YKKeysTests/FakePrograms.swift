// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Programs that are installed on a machine, as functions.
final class FakePrograms: Sendable {
    typealias Program =
        @Sendable (_ arguments: [String], _ input: [UInt8]) throws(ProgramError) ->
        ChildProcess.Ending

    private let programs: [String: Program]
    private let lines = Mutex<[String]>([])

    init(_ programs: [String: Program]) { self.programs = programs }

    /// What was run, without what was on standard input.
    var run: [String] { lines.withLock { $0 } }

    var runner: ProgramRunner {
        ProgramRunner(find: { name in self.programs[name] == nil ? nil : "/bin/" + name }) {
            path, arguments, input, _ throws(ProgramError) in
            let name = String(path.dropFirst("/bin/".count))
            self.lines.withLock { $0.append(([name] + arguments).joined(separator: " ")) }
            guard let program = self.programs[name] else { throw .failed(program: name, reason: "not installed") }
            return try program(arguments, input)
        }
    }
}

/// What secret-tool reaches: texts by the line of their attributes.
final class FakeSecretService: Sendable {
    let items = Mutex<[String: [UInt8]]>([:])
    let isLocked = Mutex(false)

    var program: FakePrograms.Program {
        { arguments, input throws(ProgramError) in
            let attributes = arguments.dropFirst().filter { !$0.hasPrefix("--label=") }.joined(separator: " ")
            guard self.isLocked.withLock({ !$0 }) else { return ChildProcess.Ending(status: 1, output: []) }
            return self.items.withLock { items in
                switch arguments.first {
                case "store":
                    items[attributes] = input
                    return ChildProcess.Ending(status: 0, output: [])
                case "lookup":
                    return ChildProcess.Ending(
                        status: items[attributes] == nil ? 1 : 0, output: items[attributes] ?? [])
                default:
                    items = items.filter { !$0.key.hasPrefix(attributes) }
                    return ChildProcess.Ending(status: 0, output: [])
                }
            }
        }
    }

    var programs: FakePrograms { FakePrograms(["secret-tool": program]) }
}
