// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKDesktop

extension PromptFailure: Explained {
    package var explanation: Explanation {
        switch self {
        case .declined: Explanation("declined", .declined, "the question was answered with no")
        case .timedOut: Explanation("declined", .declined, "the question was not answered in time")
        case .withdrawn: Explanation("declined", .declined, "the question was withdrawn")
        case .cannotAsk(let program, let reason):
            Explanation(
                "no-prompt", .declined, "\(program.printable) cannot ask: \(reason.printable)",
                hint: "without a display, name a terminal (export GPG_TTY=$(tty)) or a program (SSH_ASKPASS,"
                    + " SSH_ASKPASS_REQUIRE=force) before the agent starts, or run it in the foreground")
        }
    }
}
