// SPDX-License-Identifier: Apache-2.0

/// An option without a value.
@propertyWrapper
package struct Flag<Value> {
    fileprivate var declaration: Declaration

    package var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(declaration, value: newValue) }
    }
}

extension Flag<Bool> {
    /// A flag that is false unless given.
    package init(
        wrappedValue: Bool, _ names: Names, variable: OptionVariable? = nil,
        help: @escaping @autoclosure () -> String? = nil
    ) {
        declaration = Declaration(
            .flag(names), help, variable: variable, value: wrappedValue,
            read: { _, _ in true })
    }

    /// A flag with a `--no-` counterpart that clears it.
    package init(
        wrappedValue: Bool, _ names: Names, inversion: FlagInversion, help: @escaping @autoclosure () -> String? = nil
    ) {
        declaration = Declaration(
            .pair(names), help, value: wrappedValue,
            standard: { (wrappedValue ? "--" : "--no-") + names.plain }, read: { word, _ in word == Names.yes })
    }
}

extension Flag<Bool?> {
    /// A flag with a `--no-` counterpart; `nil` if neither is given.
    package init(_ names: Names, inversion: FlagInversion, help: @escaping @autoclosure () -> String? = nil) {
        declaration = Declaration(
            .pair(names), help, value: .some(Bool?.none as Any), read: { word, _ in Bool?.some(word == Names.yes) })
    }
}

/// The form of a flag's counterpart.
package enum FlagInversion: Sendable {
    /// `--no-` and the flag's name.
    case prefixedNo
}
