// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A name that stands alone.
@propertyWrapper
package struct Flag<Value>: Codable {
    fileprivate var declaration: Declaration

    package var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(known: newValue) }
    }

    /// Takes the value from ArgumentParser.
    package init(from decoder: any Decoder) throws {
        declaration = Declaration(known: try ArgumentParser.Flag<Value>(from: decoder).wrappedValue)
    }

    package func encode(to encoder: any Encoder) { DeclarationCollector.add(declaration, to: encoder) }
}

extension Flag<Bool> {
    /// A flag that is false unless given.
    package init(wrappedValue: Bool, name: Names = .long, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .flag(name), help, value: wrappedValue,
            parsed: { ArgumentParser.Flag(wrappedValue: wrappedValue, name: name.parsed, help: help?.parsed) },
            read: { _, _ in true })
    }

    /// A flag with a `--no-` counterpart that clears it.
    package init(wrappedValue: Bool, inversion: FlagInversion, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .pair, help, value: wrappedValue,
            parsed: { ArgumentParser.Flag(wrappedValue: wrappedValue, inversion: .prefixedNo, help: help?.parsed) })
    }
}

extension Flag<Bool?> {
    /// A flag with a `--no-` counterpart, and a third value when neither is given.
    package init(inversion: FlagInversion, help: ArgumentHelp? = nil) {
        declaration = Declaration(
            .pair, help, value: .some(Bool?.none as Any),
            parsed: { ArgumentParser.Flag<Bool?>(inversion: .prefixedNo, help: help?.parsed) })
    }
}

/// The form of a flag's counterpart.
package enum FlagInversion: Sendable {
    /// `--no-` and the flag's name.
    case prefixedNo
}
