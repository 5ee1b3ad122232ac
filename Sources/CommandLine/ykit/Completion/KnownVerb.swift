// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKWire

/// The options and words of a verb, as ArgumentParser describes them.
struct KnownVerb {
    let options: [Item]
    private let arguments: [Item]

    /// An option, or a word without a name.
    struct Item {
        /// With their dashes; none for a word.
        let names: [String]
        let about: String
        let takesValue: Bool
        let isRepeated: Bool
        let isShown: Bool
        let values: [String]
        let files: CompletionLine.Offers.Files

        /// Whether it is `--virtual`, whose value may be left away.
        var isStateFile: Bool { names.contains("--virtual") }
    }

    init(_ command: any ParsableCommand.Type) {
        let described = (try? JSON(parsing: command._dumpHelp()))?["command"]?["arguments"]?.array ?? []
        options = described.filter { $0["kind"]?.string != "positional" }.map(Item.init)
        arguments = described.filter { $0["kind"]?.string == "positional" }.map(Item.init)
    }

    /// The options that stand anywhere on the line.
    var global: [Item] { options.filter { $0.names.contains(where: ArgumentRewriting.isGlobal) } }

    /// The word without a name that follows so many others.
    func argument(_ count: Int) -> Item? {
        if count < arguments.count { return arguments[count] }
        return arguments.last.flatMap { $0.isRepeated ? $0 : nil }
    }
}

extension KnownVerb.Item {
    fileprivate init(_ json: JSON) {
        names = (json["names"]?.array ?? []).compactMap { name in
            name["name"]?.string.map { (name["kind"]?.string == "long" ? "--" : "-") + $0 }
        }
        about = json["abstract"]?.string ?? ""
        takesValue = json["kind"]?.string == "option"
        isRepeated = json["isRepeating"] == true
        isShown = json["shouldDisplay"] != false
        let completion = json["completionKind"]
        let listed = completion?["list"]?["values"]?.array ?? json["allValues"]?.array ?? []
        values = listed.compactMap(\.string)
        files = completion?["file"] != nil ? .files : completion?["directory"] != nil ? .folders : .none
    }
}
