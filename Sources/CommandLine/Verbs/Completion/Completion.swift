// SPDX-License-Identifier: Apache-2.0

package import Arguments
package import TerminalIO

/// A completion script.
package struct CompletionScript: Report {
    let shell: Completion.Shell

    package static let members: [Member<CompletionScript>] = [
        Member("shell") { $0.shell.rawValue },
        Member("script") { $0.shell.script },
    ]
}

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
            """,
        examples: [Example("ykit completion bash > ykit.bash"), Example("ykit completion zsh > _ykit")])

    package init() {}

    /// A shell with a completion script.
    package enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash, zsh, fish
    }

    @Argument("shell", help: "bash, zsh or fish") package var shell: Shell

    package func run(in run: Run) -> Outcome<CompletionScript> {
        var outcome = Outcome(CompletionScript(shell: shell))
        outcome.answer.raw = Array((shell.script + "\n").utf8)
        return outcome
    }
}
