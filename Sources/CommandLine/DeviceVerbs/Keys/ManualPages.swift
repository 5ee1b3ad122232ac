// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKWire

/// The manual pages: ykit(1), and a page for each group of verbs.
enum ManualPages {
    /// A file name and its content in roff.
    typealias Page = (name: String, text: String)

    /// All pages.
    static var all: [Page] {
        let groups = Program.root.about.subcommands.filter { $0.about.shouldDisplay && !$0.command.isVerb }
        return [("ykit.1", main(groups))] + groups.map { ("ykit-\($0.name).1", page(of: $0)) }
    }

    private static func main(_ groups: [NamedCommand]) -> String {
        var lines = head("ykit", "manage hardware security keys")
        lines += [".SH SYNOPSIS", "\\fBykit\\fR [\\fIglobal options\\fR] \\fIgroup\\fR \\fIverb\\fR [\\fIoptions\\fR]"]
        lines += [".SH DESCRIPTION"] + paragraphs(Program.root.about.discussion()) + examples
        lines += [".SH GLOBAL OPTIONS"] + Declarations.of(GlobalOptions.self).flatMap(entry)
        lines += [".SH GROUPS"]
        for group in groups {
            lines += [".TP", ".BR ykit\\-\(roff(group.name)) (1)", roff(group.about.abstract)]
        }
        lines += [".SH VERBS"]
        for verb in Program.root.about.subcommands where verb.about.shouldDisplay && verb.command.isVerb {
            lines += section(verb.command, [verb.name])
        }
        lines += [".SH EXIT STATUS"]
        for status in ExitStatus.table.split(separator: "\n") {
            let parts = status.split(separator: " ", maxSplits: 1).map { String($0).trimmed }
            lines += [".TP", ".B " + (parts.first ?? ""), roff(parts.last ?? "")]
        }
        lines += [".SH ENVIRONMENT", roff(HelpTopic.precedence.joined(separator: " "))]
        // A name is not hyphenated, \%.
        for (names, meaning) in HelpTopic.variables {
            lines += [".TP", ".B " + names.map { "\\%" + roff($0) }.listed(), roff(meaning)]
        }
        return (lines + files).joined(separator: "\n") + "\n"
    }

    private static func page(of group: NamedCommand) -> String {
        let about = group.about
        var lines = head(
            "ykit-" + group.name, about.abstract.hasSuffix(".") ? String(about.abstract.dropLast()) : about.abstract)
        lines += [".SH SYNOPSIS", "\\fBykit \(roff(group.name))\\fR \\fIverb\\fR [\\fIoptions\\fR]"]
        let discussion = about.discussion()
        if !discussion.isEmpty { lines += [".SH DESCRIPTION"] + paragraphs(discussion) }
        let examples = lined(about.examples())
        if !examples.isEmpty { lines += [".SH EXAMPLES"] + examples }
        lines += [".SH VERBS"] + sections(of: group)
        lines += [".SH SEE ALSO", ".BR ykit (1)", "for global options, variables and the exit status."]
        return lines.joined(separator: "\n") + "\n"
    }

    private static func sections(of group: NamedCommand) -> [String] {
        group.command.listedVerbs.flatMap { section($0.command, [group.name] + $0.path) }
    }

    /// The section of a verb: its usage, description and own options.
    private static func section(_ verb: any ParsableCommand.Type, _ path: [String]) -> [String] {
        let own = Declarations.titled(verb).filter { $0.title != GlobalOptions.title }.flatMap(\.declarations)
            .filter { $0.help != nil }
        let arguments = own.filter(\.words.isEmpty).map { $0.value == nil ? $0.name : "[\($0.name)]" }
        let line = (["ykit"] + path + arguments).joined(separator: " ")
        let discussion = verb.about.discussion()
        return [".SS " + roff(line), roff(verb.about.abstract)] + (discussion.isEmpty ? [] : paragraphs(discussion))
            + own.flatMap(entry) + examples(of: verb.about) + secrets(of: verb)
    }

    /// Where the secrets of a verb are read from.
    private static func secrets(of verb: any ParsableCommand.Type) -> [String] {
        let secrets = Declarations.brief(verb).map(\.options)
        guard !secrets.isEmpty else { return [] }
        return [".PP", "Secrets, prompted for unless given:"]
            + secrets.flatMap { [".TP", roff($0.label), roff($0.text)] }
    }

    private static func examples(of about: About) -> [String] {
        let examples = about.examples()
        guard !examples.isEmpty else { return [] }
        return [".PP", examples.count == 1 ? "Example:" : "Examples:"] + lined(examples)
    }

    private static func lined(_ examples: [Example]) -> [String] {
        examples.flatMap { example in
            example.purpose.isEmpty
                ? [".PP", ".in +4", ".nf", roff(example.line), ".fi", ".in"]
                : [".TP", roff(example.line), roff(example.purpose)]
        }
    }

    private static func entry(_ declaration: Declaration) -> [String] {
        guard let help = declaration.help else { return [] }
        return [".TP", "\\fB\(roff(declaration.spelling))\\fR", roff(help)]
    }

    // MARK: - roff

    private static func head(_ name: String, _ purpose: String) -> [String] {
        [".TH \(roff(name).uppercased()) 1", ".SH NAME", "\(roff(name)) \\- \(roff(purpose))"]
    }

    /// Returns paragraphs; those with indented lines are kept unchanged.
    private static func paragraphs(_ text: String) -> [String] {
        var paragraphs: [[Substring]] = [[]]
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty { paragraphs.append([]) } else { paragraphs[paragraphs.count - 1].append(line) }
        }
        return paragraphs.filter { !$0.isEmpty }.flatMap { lines in
            lines.dropFirst().contains { $0.hasPrefix("  ") }
                ? [".PP", ".nf", roff(lines.joined(separator: "\n")), ".fi"]
                : [".PP", roff(lines.joined(separator: " "))]
        }
    }

    private static func roff(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return escaped.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : String($0) }.joined(separator: "\n")
    }

    private static let examples = [
        #".SH EXAMPLES"#,
        #".TP"#,
        #"ykit list"#,
        #"List the attached keys and readers. If a key is missing or does not answer: \fBykit doctor\fR."#,
        #".TP"#,
        #"ykit oath calculate github"#,
        #"The code of the account whose name contains this; without a name, all codes."#,
        #".TP"#,
        #"ykit fido2 credentials list"#,
        #"The passkeys that the key stores."#,
        #".TP"#,
        #"ykit piv keys generate 9a pub.pem && ykit piv certificates generate 9a \-\-subject CN=Alice"#,
        #"A key pair that never leaves the key, and a certificate for it."#,
        #".TP"#,
        #"ykit \-\-json info | jq \-r .serial"#,
        #"One JSON object from every verb, with the same members in success and failure."#,
        #".TP"#,
        #"ykit \-\-plan config usb \-\-disable otp"#,
        #"What would be sent, in words; nothing is changed."#,
        #".TP"#,
        #"ykit \-\-record bug.jsonl oath list"#,
        #"The session as a file without secrets; \fBykit capture show bug.jsonl\fR reads it, \fB\-\-replay bug.jsonl\fR plays it."#,
        #".TP"#,
        #"ykit \-\-virtual oath list"#,
        #"The same without a key, on one in software."#,
    ]

    private static let files = [
        #".SH FILES"#,
        #".TP"#,
        #".I $XDG_CONFIG_HOME/ykit/config"#,
        #"Values of global options, and aliases; \fI~/.config/ykit/config\fR by default. \fBykit help config\fR explains it."#,
        #".TP"#,
        #".I $XDG_STATE_HOME/ykit/"#,
        #"Remembered passwords and the counters of accepted one\-time passwords; \fI~/.local/state/ykit/\fR by default."#,
        #".TP"#,
        #".I $XDG_CACHE_HOME/ykit/names.json"#,
        #"Names of keys, readers and OATH accounts for shell completion; \fI~/.cache/ykit/\fR by default, not written with YKIT_NAMES=off."#,
        #".TP"#,
        #".I /etc/udev/rules.d/70\-ykit.rules"#,
        #"Gives the user at the machine access to the nodes of keys, if the system does not do that already."#,
        #".SH SEE ALSO"#,
        #".BR pcscd (8),"#,
        #".BR udev (7),"#,
        #".BR openssl (1),"#,
        #".BR fido2\-token (1)"#,
    ]
}
