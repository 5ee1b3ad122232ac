// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments>: Codable {
    package var wrappedValue: Value

    /// Takes the value from ArgumentParser.
    package init(from decoder: any Decoder) throws {
        wrappedValue = try ArgumentParser.OptionGroup<ParsedGroup<Value>>(from: decoder).wrappedValue.base
    }

    /// Options that help lists below the title of their type.
    package init() { wrappedValue = Value() }

    package func encode(to encoder: any Encoder) throws {
        try DeclarationCollector.add(wrappedValue, to: encoder) {
            ArgumentParser.OptionGroup<ParsedGroup<Value>>(title: Value.title)
        }
    }
}
