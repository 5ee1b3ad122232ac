// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments> {
    package var wrappedValue: Value
    /// What the options declare, if they were created for a line.
    package let projectedValue: Declarations

    /// Options that help lists below the title of their type.
    package init() {
        guard Declarations.areListed else {
            (wrappedValue, projectedValue) = (Value(), Declarations())
            return
        }
        let (options, declarations) = Declarations.made(Value.self)
        (wrappedValue, projectedValue) = (options, declarations)
        Declarations.add(
            .group(
                Declarations.Group(members: declarations, check: options.check) {
                    ArgumentParser.OptionGroup<ParsedGroup<Value>>(title: Value.title)
                }))
    }
}
