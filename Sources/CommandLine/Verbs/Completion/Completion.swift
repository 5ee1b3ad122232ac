// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKWire

/// Prints a completion script.
struct Completion: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "completion", "Print a completion script for bash, zsh or fish.",
        discussion: """
            bash: ykit completion bash > ~/.local/share/bash-completion/completions/ykit

            zsh, with ~/.zfunc among $fpath: ykit completion zsh > ~/.zfunc/_ykit

            fish: ykit completion fish > ~/.config/fish/completions/ykit.fish

            The script asks ykit at each TAB, which never asks a key: serial numbers, readers and OATH accounts are \
            those that were listed last. YKIT_NAMES=off keeps none.
            """, members: ["shell", "script"])

    /// A shell with a completion script.
    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument("shell", help: "bash, zsh or fish") var shell: Shell

    func answer(in world: World) -> Answer {
        var answer = Answer([], ["shell": .string(shell.rawValue), "script": .string(shell.script)])
        answer.raw = Array((shell.script + "\n").utf8)
        return answer
    }
}
