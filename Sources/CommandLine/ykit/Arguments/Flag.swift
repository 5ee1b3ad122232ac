// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// An option without a value, declared as with ArgumentParser, and read without it where that is possible.
@propertyWrapper
struct Flag<Value>: Codable {
    fileprivate var declaration: Declaration

    var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(known: newValue) }
    }

    /// Reads what ArgumentParser found.
    init(from decoder: any Decoder) throws {
        declaration = Declaration(known: try ArgumentParser.Flag<Value>(from: decoder).wrappedValue)
    }

    func encode(to encoder: any Encoder) { DeclarationCollector.add(declaration, to: encoder) }

    /// Flags of which one at most may be given. ArgumentParser knows their names, so it reads them.
    init<Choice: EnumerableFlag>(exclusivity: FlagExclusivity = .exclusive, help: ArgumentHelp? = nil)
    where Value == Choice? {
        declaration = Declaration(
            .elsewhere, value: .some(Value.none as Any),
            parsed: { ArgumentParser.Flag<Value>(exclusivity: exclusivity, help: help) })
    }
}

extension Flag<Bool> {
    /// A flag with a counterpart that lowers it. ArgumentParser knows their names, so it reads them.
    init(wrappedValue: Bool, name: Names = .long, inversion: FlagInversion, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .elsewhere, value: wrappedValue,
            parsed: {
                ArgumentParser.Flag(wrappedValue: wrappedValue, name: name.parsed, inversion: inversion, help: help)
            })
    }

    /// A flag that is not raised unless it is given.
    init(wrappedValue: Bool, name: Names = .long, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .flag(name), value: wrappedValue,
            parsed: { ArgumentParser.Flag(wrappedValue: wrappedValue, name: name.parsed, help: help) },
            read: { _, _ in true })
    }
}

extension Flag<Bool?> {
    /// A flag with a counterpart, and a third meaning without either. ArgumentParser reads them.
    init(name: Names = .long, inversion: FlagInversion, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .elsewhere, value: .some(Bool?.none as Any),
            parsed: { ArgumentParser.Flag<Bool?>(name: name.parsed, inversion: inversion, help: help) })
    }
}
