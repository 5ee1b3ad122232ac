// SPDX-License-Identifier: Apache-2.0

import Glibc
import TerminalIO
import Verbs
import YKBridge
import YKTransport
import YKVirtualKeyHost

/// The bridge to a key at the other end of an SSH connection.
extension BridgeVerb {
    /// Serves the near end at standard input and output. Messages from this end go to standard error, which the near
    /// end shows.
    func serveRemoteKey(
        _ run: Run, _ events: BridgeEvents, _ reader: VPCDAddress
    ) throws -> Outcome<BridgeReport> {
        guard isatty(0) == 0, isatty(1) == 0 else {
            throw Explanation.usage(
                "--stdio is for 'ykit remote', not for a terminal",
                hint: "on the machine with the key: ykit remote HOST")
        }
        var end = FarEnd(
            input: 0, output: 1, program: Program.version, owner: try owner.user(run),
            cancellation: run.environment.cancellation, report: events.report)
        end.reader = reader
        try end.run()
        return Outcome(BridgeReport(node: events.node, owner: try owner.user(run), readers: [], ceremonies: 0))
    }

    /// The plan for a key at the near end.
    func farPlan(_ reader: VPCDAddress, _ run: Run) throws -> Outcome<BridgeReport> {
        let user = try owner.user(run)
        return Outcome(
            BridgeReport(node: nil, owner: user, readers: [], ceremonies: 0),
            [
                "would create a HID device \(BridgeNode.numbers) through /dev/uhid for "
                    + (user.map { "the user \($0.printable)" } ?? "the users at this machine"),
                "or put a card of the other end into the virtual reader at \(reader)",
                "would pass its messages to 'ykit remote' over standard output",
            ])
    }
}
