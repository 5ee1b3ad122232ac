// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that several verbs have in common, declared as with ArgumentParser.
@propertyWrapper
struct OptionGroup<Value: ParsableArguments>: Codable {
    var wrappedValue: Value
    private let title: String

    /// Reads what ArgumentParser found.
    init(from decoder: any Decoder) throws {
        wrappedValue = try ArgumentParser.OptionGroup<Value>(from: decoder).wrappedValue
        title = ""
    }

    init(title: String = "") {
        wrappedValue = Value()
        self.title = title
    }

    func encode(to encoder: any Encoder) throws {
        let title = title
        try DeclarationCollector.add(wrappedValue, to: encoder) {
            ArgumentParser.OptionGroup<Value>(title: title)
        }
    }
}
