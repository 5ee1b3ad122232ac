// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: Codable {
    package var wrappedValue: Value
    private let title: String

    /// Takes the value from ArgumentParser.
    package init(from decoder: any Decoder) throws {
        wrappedValue = try ArgumentParser.OptionGroup<ParsedGroup<Value>>(from: decoder).wrappedValue.base
        title = ""
    }

    /// Options that help lists below a title.
    package init(title: String = "") {
        wrappedValue = Value()
        self.title = title
    }

    package func encode(to encoder: any Encoder) throws {
        let title = title
        try DeclarationCollector.add(wrappedValue, to: encoder) {
            ArgumentParser.OptionGroup<ParsedGroup<Value>>(title: title)
        }
    }
}
