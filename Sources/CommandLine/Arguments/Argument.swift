// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A word without a name.
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
            .argument(name), help, Choices(Value.self, completion), takesAnyWord: isBase64URL,
            parsed: { ArgumentParser.Argument<Value>(help: ArgumentHelp(shown: help())) },
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
            parsed: { ArgumentParser.Argument(wrappedValue: wrappedValue, help: ArgumentHelp(shown: help())) },
            read: { word, _ in Value(argument: word) })
    }

    /// An optional argument; with `isBase64URL` it may start with a dash.
    package init<Wrapped: ExpressibleByArgument>(
        _ name: String, isBase64URL: Bool = false, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        declaration = Declaration(
            .argument(name), help, Choices(Wrapped.self, completion), takesAnyWord: isBase64URL,
            value: .some(Value.none as Any),
            parsed: { ArgumentParser.Argument<Value>(help: ArgumentHelp(shown: help())) },
            read: { word, _ in Wrapped(argument: word).map(Value.some) })
    }

    /// A required argument, parsed by a function that explains errors.
    package init(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Value
    ) {
        declaration = Declaration(
            .argument(name), help, Choices(completion),
            parsed: {
                ArgumentParser.Argument<Value>(
                    help: ArgumentHelp(shown: help()), transform: UsageError.parsed(transform))
            },
            read: { word, _ in try? transform(word) })
    }

    /// An optional argument, parsed by a function that explains errors.
    package init<Wrapped>(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Wrapped
    ) where Value == Wrapped? {
        declaration = Declaration(
            .argument(name), help, Choices(completion), value: .some(Value.none as Any),
            parsed: {
                ArgumentParser.Argument<Value>(
                    help: ArgumentHelp(shown: help()), transform: UsageError.parsed(transform))
            },
            read: { word, _ in (try? transform(word)).map(Value.some) })
    }

    /// All remaining arguments.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], _ name: String, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        declaration = Declaration(
            .argument(name), help, Choices(Element.self, completion), isRepeated: true, value: wrappedValue,
            parsed: { ArgumentParser.Argument(wrappedValue: wrappedValue, help: ArgumentHelp(shown: help())) },
            read: Declaration.appending(Element.self))
    }

    /// All remaining arguments, at least one.
    package init<Element: ExpressibleByArgument>(
        _ name: String, help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil
    )
    where Value == [Element] {
        declaration = Declaration(
            .argument(name), help, Choices(Element.self, completion), isRepeated: true,
            parsed: { ArgumentParser.Argument<Value>(help: ArgumentHelp(shown: help())) },
            read: Declaration.appending(Element.self))
    }
}
