// SPDX-License-Identifier: Apache-2.0

/// Options that several verbs have in common.
@propertyWrapper
package struct OptionGroup<Value: ParsableArguments> {
    package var wrappedValue: Value
    /// The declarations of the options; empty for options that no line is read into.
    package private(set) var projectedValue: [Declaration] = []

    /// Creates options that help lists under the title of their type.
    package init() {
        guard Declarations.areListed else {
            wrappedValue = Value()
            return
        }
        let (options, declarations) = Declarations.group(Value.self)
        (wrappedValue, projectedValue) = (options, declarations.all)
        Declarations.add(
            .group(
                Declarations.Group(
                    title: Value.title, brief: Value.brief, members: declarations, check: options.check)))
    }
}
