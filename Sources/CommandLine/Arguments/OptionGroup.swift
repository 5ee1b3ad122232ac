// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments> {
    package var wrappedValue: Value

    /// Options that help lists below the title of their type.
    package init() {
        guard Declarations.areListed else {
            wrappedValue = Value()
            return
        }
        let (options, declarations) = Declarations.made(Value.self)
        wrappedValue = options
        Declarations.add(
            .group(
                Declarations.Group(members: declarations, check: options.check) {
                    ArgumentParser.OptionGroup<ParsedGroup<Value>>(title: Value.title)
                }))
    }
}
