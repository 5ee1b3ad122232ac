// SPDX-License-Identifier: Apache-2.0

import YKWire

/// An XML element without its namespaces: key containers never mix names that only a namespace tells apart.
struct XMLNode: Hashable, Sendable {
    /// The name without its prefix.
    let name: String
    /// The attributes by name without prefix; namespace declarations are left out.
    var attributes: [String: String] = [:]
    /// The elements in it, in order.
    var children: [XMLNode] = []
    /// The text directly in it.
    var text = ""

    init(_ name: String, _ attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }

    /// The first element reached by going down these names.
    func first(_ path: String...) -> XMLNode? {
        path.reduce(self) { node, name in node?.children.first { $0.name == name } }
    }

    /// The elements of this name, in order.
    func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text of the first element of this name, without white space at either end; `nil` when empty or not there.
    func value(_ name: String) -> String? {
        guard let text = first(name)?.text.trimmed, !text.isEmpty else { return nil }
        return text
    }
}
