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
        "Print a completion script for bash, zsh or fish.",
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

extension Completion.Shell {
    /// The script, which asks ykit for completions at each TAB, and adds file names if the answer says so.
    var script: String {
        switch self {
        case .bash: Self.bashScript
        case .zsh: Self.zshScript
        case .fish: Self.fishScript
        }
    }

    /// bash splits words at colons and equals signs, so ykit receives the whole line and the part to be replaced.
    private static let bashScript = #"""
        # bash completion for ykit
        _ykit() {
            local IFS=$'\n' line
            local -a lines
            mapfile -t lines < <(command "$1" __complete bash "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null)
            COMPREPLY=()
            for line in "${lines[@]:1}"; do
                case $2 in
                    [\"\']*) COMPREPLY+=("$line") ;;
                    *) COMPREPLY+=("$(printf %q "$line")") ;;
                esac
            done
            case ${lines[0]-} in
                *files) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$2")) ;;
                *folders) compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -d -- "$2")) ;;
            esac
        }
        complete -F _ykit ykit
        """#

    private static let zshScript = #"""
        #compdef ykit
        # zsh completion for ykit
        _ykit() {
            local -a lines offers
            local line
            lines=("${(@f)$(command "${words[1]}" __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
            for line in "${(@)lines[2,-1]}"; do
                offers+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
            done
            (( $#offers )) && _describe -V value offers
            case ${lines[1]-} in
                *files) compset -P '--*='; _files ;;
                *folders) compset -P '--*='; _files -/ ;;
            esac
        }
        if [[ $funcstack[1] == _ykit ]]; then _ykit "$@"; else compdef _ykit ykit; fi
        """#

    private static let fishScript = #"""
        # fish completion for ykit
        function __ykit_complete
            set -l words (commandline -opc)
            set -l current (commandline -ct | string unescape)
            test (count $current) -gt 0; or set current ''
            set -l program $words[1]
            set -e words[1]
            set -l lines (command $program __complete fish $words $current 2>/dev/null)
            set -l kind $lines[1]
            set -e lines[1]
            test (count $lines) -gt 0; and printf '%s\n' $lines
            string match -q '*files' -- $kind; and __fish_complete_path $current
            string match -q '*folders' -- $kind; and __fish_complete_directories $current
        end
        complete -c ykit -f -a '(__ykit_complete)'
        """#
}
