// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO
import YKWire

/// Prints a completion script.
package struct Completion: Verb {
    package static let uses: GlobalUse = []
    package static let about = About(
        "completion", "Print a completion script for bash, zsh or fish.",
        discussion: """
            bash: ykit completion bash > ~/.local/share/bash-completion/completions/ykit

            zsh, with ~/.zfunc among $fpath: ykit completion zsh > ~/.zfunc/_ykit

            fish: ykit completion fish > ~/.config/fish/completions/ykit.fish

            The script calls ykit at each TAB, which never queries a key: serial numbers, readers and OATH accounts \
            are those last listed. YKIT_NAMES=off stores none.
            """, members: ["shell", "script"],
        examples: [Example("ykit completion bash > ykit.bash"), Example("ykit completion zsh > _ykit")])

    package init() {}

    /// A shell with a completion script.
    package enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument("shell", help: "bash, zsh or fish") package var shell: Shell

    package func answer(in world: World) -> Answer {
        var answer = Answer([], ["shell": .string(shell.rawValue), "script": .string(shell.script)])
        answer.raw = Array((shell.script + "\n").utf8)
        return answer
    }
}
