// SPDX-License-Identifier: Apache-2.0

/// An XML element without its namespaces: the supported formats never use names that differ only in their namespace.
package struct XMLNode: Hashable, Sendable {
    /// The name without its prefix.
    package let name: String
    /// The attributes by name without prefix; namespace declarations are omitted.
    package var attributes: [String: String] = [:]
    /// The child elements, in order.
    package var children: [XMLNode] = []
    /// The text directly in the element.
    package var text = ""

    package init(_ name: String, _ attributes: [String: String] = [:]) {
        self.name = name
        self.attributes = attributes
    }

    /// The first element at this path of names.
    package func first(_ path: String...) -> XMLNode? {
        path.reduce(self) { node, name in node?.children.first { $0.name == name } }
    }

    /// The child elements of this name, in order.
    package func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

    /// The text of the first element of this name, without white space at either end; `nil` when empty or absent.
    package func value(_ name: String) -> String? {
        guard let text = first(name)?.text.trimmed, !text.isEmpty else { return nil }
        return text
    }
}
