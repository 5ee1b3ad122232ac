// SPDX-License-Identifier: Apache-2.0

import Glibc
package import TerminalIO
package import YKBridge
import YKHardware
import YKWire

extension GuardError: Explained {
    package var explanation: Explanation {
        switch self {
        case .notRunning:
            Explanation(
                "guard-not-running", .notFound, "the system part of the guard is not running",
                hint: "in another terminal: sudo ykit guard --system")
        case .denied:
            Explanation(
                "guard-denied", .permission, "the guard serves another user",
                hint: "sudo ykit guard --system --owner USER serves that user")
        case .busy(let process):
            Explanation(
                "guard-busy", .busy, "process \(process) is already asked about the key",
                hint: "end it, then repeat this command")
        case .nodeNotTaken(let number):
            Explanation(
                "guard-node", ExitStatus(errno: number),
                "the guard could not take the key's node: \(String(cString: strerror(number)))",
                hint: "ykit doctor lists the nodes of the keys")
        case .unseen(let browsers):
            Explanation(
                "guard-snap", .policy,
                "the guard does not take the key: \(browsers.listed()) would find no key, as snaps find listed models only",
                hint: "install the browser as a package, or start the system part with --as-key")
        case .socket(let error): error.explanation
        case .noKeeper:
            Explanation(
                "guard-keeper", .failed, "the process that gives the key back could not be started, or has ended",
                hint: "start the guard again; it gives back a key that was left")
        case .lost:
            Explanation(
                "guard-lost", .server, "the other part of the guard has ended",
                hint: "in another terminal: sudo ykit guard --system")
        case .violation(let error):
            Explanation(
                "guard-violation", .malformed, "the other part of the guard violated the protocol: \(error.reason)")
        case .cancelled: .interrupted
        }
    }
}

extension LocalSocketError {
    fileprivate var explanation: Explanation {
        switch self {
        case .listens(let path):
            Explanation(
                "guard-running", .busy, "another guard listens at \(path.printable)", hint: "ykit guard status")
        case .exists(let path):
            Explanation("guard-socket", .policy, "\(path.printable) is not a socket", hint: "remove it")
        case .unsuitablePath: Explanation("guard-socket", .usage, "the path of the socket is too long")
        case .failed(let path, let number):
            Explanation(
                "guard-socket", ExitStatus(errno: number),
                "no socket at \(path?.printable ?? "the guard's path"): \(String(cString: strerror(number)))",
                hint: "the system part runs as root: sudo ykit guard --system")
        }
    }
}
