// SPDX-License-Identifier: Apache-2.0

import Arguments
import Glibc
import TerminalIO
import Verbs
import YKHardware
import YKTransport

/// The udev rules, and where they belong.
struct RulesReport: Report {
    static let members: [Member<RulesReport>] = [
        Member("file") { _ in UDevRule.folder + UDevRule.file },
        Member("rules") { _ in KnownKeys.rules },
    ]
}

/// Prints the udev rules.
struct UDevRules: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Print the udev rules that let users open security keys.",
        discussion: """
            Install them with:
              ykit udev-rules | sudo tee /etc/udev/rules.d/70-ykit.rules
              sudo udevadm control --reload
              sudo udevadm trigger -s usb -s hidraw
            'sudo ykit doctor --fix' does the same.
            """,
        examples: [Example("ykit udev-rules > 70-security-key.rules")])

    func run(in run: Run) -> Outcome<RulesReport> {
        var outcome = Outcome(RulesReport())
        outcome.answer.raw = Array(KnownKeys.rules.utf8)
        return outcome
    }
}

extension UDevRule {
    /// Installs and applies the rules; returns what was done or, without root, the commands that do it.
    static func install(_ programs: ProgramRunner) throws -> [String] {
        guard geteuid() == 0 else { return ["to install the udev rules:"] + commands.map { "  " + $0 } }
        let path = folder + file
        try Files.write(Array(KnownKeys.rules.utf8), to: path)
        guard chmod(path, 0o644) == 0 else { throw Files.failure("cannot set the mode of", path) }
        guard let udevadm = programs.find("udevadm") else {
            return ["\(path) is installed; udevadm is not available to apply it"]
        }
        for words in [["control", "--reload"], ["trigger", "--subsystem-match=usb", "--subsystem-match=hidraw"]] {
            guard try programs.run(udevadm, words, [], [:]).status == 0 else {
                return ["\(path) is installed, but udevadm \(words[0]) failed: restart the machine to apply it"]
            }
        }
        return ["\(path) is installed and applied"]
    }
}
