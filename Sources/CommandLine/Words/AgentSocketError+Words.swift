// SPDX-License-Identifier: Apache-2.0

import Glibc
package import TerminalIO
package import YKKeyAgent

extension AgentSocketError: Explained {
    package var explanation: Explanation {
        switch self {
        case .agentListens(let path):
            .usage(
                "an agent is already listening at \(path.printable)",
                hint: "export SSH_AUTH_SOCK=\(path.printable) to use it, or choose another one with --socket PATH")
        case .exists(let path):
            .usage("\(path.printable) already exists", hint: "choose another socket with --socket PATH")
        case .unsuitablePath:
            .usage("the path of a socket must be at most 107 bytes long", hint: "choose another one with --socket PATH")
        case .failed(let path, let number):
            Explanation(
                "socket", ExitStatus(errno: number),
                "cannot create \(path.map { "the socket \($0.printable)" } ?? "a socket"): \(String(cString: strerror(number)))"
            )
        }
    }
}
