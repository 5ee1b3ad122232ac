// SPDX-License-Identifier: Apache-2.0

/// An XML element without its namespaces: the formats read here never mix names that only a namespace tells apart.
package struct XMLNode: Hashable, Sendable {
    /// The name without its prefix.
    package let name: String
    /// The attributes by name without prefix; namespace declarations are left out.
    package var attributes: [String: String] = [:]
    /// The elements in it, in order.
    package var children: [XMLNode] = []
    /// The text directly in it.
    package var text = ""

    package init(_ name: String, _ attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }

    /// The first element reached by going down these names.
    package func first(_ path: String...) -> XMLNode? {
        path.reduce(self) { node, name in node?.children.first { $0.name == name } }
    }

    /// The elements of this name, in order.
    package func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text of the first element of this name, without white space at either end; `nil` when empty or not there.
    package func value(_ name: String) -> String? {
        guard let text = first(name)?.text.trimmed, !text.isEmpty else { return nil }
        return text
    }
}
