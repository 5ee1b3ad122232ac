// SPDX-License-Identifier: Apache-2.0

/// A positional argument.
@propertyWrapper
package struct Argument<Value> {
    private var declaration: Declaration

    package var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(declaration, value: newValue) }
    }

    /// A required argument; with `isBase64URL` it may start with a dash.
    package init(
        _ name: String, isBase64URL: Bool = false, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    )
    where Value: ExpressibleByArgument {
        declaration = Declaration(
            .argument(name), help, Choices(Value.self, completion), acceptsLeadingDash: isBase64URL,
            read: { word, _ in Value(argument: word) })
    }

    /// An optional argument with a default value.
    package init(
        wrappedValue: Value, _ name: String, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    )
    where Value: ExpressibleByArgument {
        declaration = Declaration(
            .argument(name), help, Choices(Value.self, completion), value: wrappedValue,
            standard: { wrappedValue.defaultValueDescription },
            read: { word, _ in Value(argument: word) })
    }

    /// An optional argument; with `isBase64URL` it may start with a dash.
    package init<Wrapped: ExpressibleByArgument>(
        _ name: String, isBase64URL: Bool = false, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        declaration = Declaration(
            .argument(name), help, Choices(Wrapped.self, completion), acceptsLeadingDash: isBase64URL,
            value: .some(Value.none as Any),
            read: { word, _ in Wrapped(argument: word).map(Value.some) })
    }

    /// A required argument, parsed by a function that explains errors.
    package init(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Value
    ) {
        declaration = Declaration(
            .argument(name), help, Choices(completion),
            read: { word, _ in try transform(word) })
    }

    /// An optional argument, parsed by a function that explains errors.
    package init<Wrapped>(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Wrapped
    ) where Value == Wrapped? {
        declaration = Declaration(
            .argument(name), help, Choices(completion), value: .some(Value.none as Any),
            read: { word, _ in Value.some(try transform(word)) })
    }

    /// All remaining arguments.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], _ name: String, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        declaration = Declaration(
            .argument(name), help, Choices(Element.self, completion), isRepeated: true, value: wrappedValue,
            read: Declaration.appending(Element.self))
    }

    /// All remaining arguments, at least one.
    package init<Element: ExpressibleByArgument>(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil
    )
    where Value == [Element] {
        declaration = Declaration(
            .argument(name), help, Choices(Element.self, completion), isRepeated: true,
            read: Declaration.appending(Element.self))
    }
}
