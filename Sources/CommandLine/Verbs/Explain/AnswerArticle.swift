// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import YKWire

/// The article on the verbs' JSON answers, in Markdown.
package struct AnswerArticle {
    private var lines = introduction
    /// Where each form of an object is described, by its schema.
    private var described: [String: String] = [:]

    /// The whole article.
    package static var text: String {
        var article = AnswerArticle()
        for (path, command) in Program.root.listedVerbs {
            if let verb = (command as? any VerbCommand.Type)?.verb { article.add(verb, path) }
        }
        return article.lines.joined(separator: "\n") + "\n"
    }

    private init() {
        let error = MemberForm("error", "null in a success", .optional(Explanation.form))
        lines += ["", "Every answer has:", "", "- `ok` (boolean)"]
        add(error, depth: 0, of: "")
        lines += [
            "- `warnings` (list): problems that did not prevent success, each with `code` and `message`", "",
            "With `--plan` the others are null, and it has:", "",
        ]
        for member in PlanReport.members { add(member.form, depth: 0, of: "") }
    }

    private static let introduction = [
        "# JSON answers", "", "What every verb answers with `--json`.", "", "## Overview", "",
        "The answer is one object on one line of standard output:", "", "```",
        shown(Program.envelope(error: nil, warnings: [])),
        shown(Program.envelope(error: Explanation("usage", .usage, "…"), warnings: [])),
        "```", "",
        "A verb has the same members in success and failure; what is not known is `null`. A member that only some objects "
            + "have is marked as optional. `ykit schema VERB` prints the same as a JSON Schema, and <doc:JSON> shows what to "
            + "do with it.",
        "",
        "Byte strings are base64url without padding, except where a member says otherwise. Times are seconds since 1970; "
            + "those meant for people are also given in RFC 3339, in a member whose name ends in `UTC`.",
    ]

    /// An envelope with an ellipsis for the members of a verb.
    private static func shown(_ envelope: JSONValue.Object) -> String {
        JSONValue.object(envelope).text.dropLast() + ", …}"
    }

    /// Adds the section on a verb's answer.
    private mutating func add(_ verb: any Verb.Type, _ path: [String]) {
        let name = path.joined(separator: " ")
        if path.count == 1 || lines.last(where: { $0.hasPrefix("## ") }) != "## \(path[0])" {
            lines += ["", "## \(path[0])"]
        }
        if path.count > 1 { lines += ["", "### \(name)"] }
        lines.append("")
        if verb.members.isEmpty { lines.append("No members of its own.") }
        for member in verb.members { add(member, depth: 0, of: name) }
        guard !verb.events.isEmpty else { return }
        lines += ["", "A line for each event:", ""]
        for member in verb.events { add(member, depth: 0, of: name) }
    }

    private mutating func add(_ member: MemberForm, depth: Int, of verb: String) {
        let type = member.form.words + (member.isAlwaysPresent ? "" : ", optional")
        var line = String(repeating: "  ", count: depth) + "- `\(member.name)` (\(type))"
        if !member.about.isEmpty { line += ": \(member.about)" }
        guard let below = member.form.members else { return lines.append(line) }
        let schema = JSONForm.schema(of: below).text
        if below.count > 2, let place = described[schema] { return lines.append(line + "; as in \(place)") }
        described[schema] = "`\(member.name)` of \(verb.isEmpty ? "the overview" : "`\(verb)`")"
        lines.append(line)
        for inner in below { add(inner, depth: depth + 1, of: verb) }
    }
}

extension JSONForm {
    /// The type in words.
    fileprivate var words: String {
        switch self {
        case .text: "text"
        case .integer: "integer"
        case .number: "number"
        case .flag: "boolean"
        case .choice(let texts): "text: " + texts.joined(separator: ", ")
        case .dictionary(let form): "object of \(form.words)s"
        case .any: "any value"
        case .object: "object"
        case .list(let form): "list of \(form.words)s"
        case .optional(let form): "\(form.words) or null"
        }
    }

    /// The members of the object, or of the objects in the list.
    fileprivate var members: [MemberForm]? {
        switch self {
        case .object(let members): members
        case .list(let form), .optional(let form): form.members
        default: nil
        }
    }
}
