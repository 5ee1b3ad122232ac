// SPDX-License-Identifier: Apache-2.0

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments> {
    package var wrappedValue: Value

    /// Creates options that help lists under the title of their type.
    package init() {
        guard Declarations.areListed else {
            wrappedValue = Value()
            return
        }
        let (options, declarations) = Declarations.group(Value.self)
        wrappedValue = options
        Declarations.add(
            .group(
                Declarations.Group(
                    title: Value.title, brief: Value.brief, members: declarations, check: options.check)))
    }
}
