// SPDX-License-Identifier: Apache-2.0

import CThreads
import Glibc
package import YKHardware
package import YKInteraction
package import YKTransport

extension Stage {
    /// The other programs of this machine, in the folders of the stage's PATH; ^C ends them.
    package var programs: ProgramRunner {
        var programs = ProgramRunner.system(environment.cancellation)
        programs.find = { [variables] in ChildProcess.find($0, path: variables["PATH"]) }
        return programs
    }
}

extension UserFolder {
    /// Its path.
    package func required(_ variables: EnvironmentVariables) throws(Explanation) -> String {
        guard let path = path({ variables[$0] }) else { throw Explanation.noHome(variable) }
        return path
    }

    /// Runs `body` while a folder is locked against changes by other programs that lock it, waiting for them.
    package static func locked<Value>(
        _ folder: String, _ cancellation: Cancellation, _ body: () throws -> Value
    ) throws -> Value {
        try locked(folder, cancellation, explainedBy: { $0 as any Error }, body)
    }
}

/// Information from the operating system.
package enum System {
    /// The description of the last failed system call.
    package static var failure: String { String(cString: strerror(errno)) }
}

/// The user who runs the program.
package enum User {
    /// The name of the account, by its number; `nil` if it has none.
    package static var account: String? { getpwuid(getuid())?.pointee.pw_name.map { String(cString: $0) } }
    /// The login name, or else the numeric id.
    package static var name: String { account ?? String(getuid()) }
}

/// The machine that the program runs on.
package enum Machine {
    /// Its name on the network; empty if it has none.
    package static var name: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The words with which this program was started.
///
/// Swift's `CommandLine` reads them from /proc, or searches the memory before the environment, and is empty in a chroot
/// without /proc, or where a preloaded library has changed the environment.
package enum ProgramArguments {
    /// The program's name and its arguments; `nil` if one is not valid UTF-8, and would be misread.
    package static var words: [String]? {
        var words: [String] = []
        for index in 0..<ykit_argument_count() {
            guard let word = ykit_argument(index) else { break }
            guard let text = String(validatingCString: word) else { return nil }
            words.append(text)
        }
        return words
    }
}
