// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// An option with a value, declared as with ArgumentParser, and read without it where that is possible.
@propertyWrapper
struct Option<Value>: Codable {
    private var declaration: Declaration

    var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(known: newValue) }
    }

    /// Reads what ArgumentParser found.
    init(from decoder: any Decoder) throws {
        declaration = Declaration(known: try ArgumentParser.Option<Value>(from: decoder).wrappedValue)
    }

    func encode(to encoder: any Encoder) { DeclarationCollector.add(declaration, to: encoder) }

    /// An option that has to be given.
    init(
        name: Names = .long, parsing: SingleValueParsingStrategy = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        declaration = Declaration(
            .option(name), takesAnyWord: parsing == .unconditional,
            parsed: {
                ArgumentParser.Option<Value>(name: name.parsed, parsing: parsing, help: help, completion: completion)
            },
            read: { word, _ in Value(argument: word) })
    }

    /// An option with a usual value.
    init(wrappedValue: Value, name: Names = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value: ExpressibleByArgument {
        declaration = Declaration(
            .option(name), value: wrappedValue,
            parsed: {
                ArgumentParser.Option(wrappedValue: wrappedValue, name: name.parsed, help: help, completion: completion)
            },
            read: { word, _ in Value(argument: word) })
    }

    /// An option that may be left away.
    init<Wrapped: ExpressibleByArgument>(
        name: Names = .long, parsing: SingleValueParsingStrategy = .next, help: ArgumentHelp? = nil,
        completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        declaration = Declaration(
            .option(name), takesAnyWord: parsing == .unconditional, value: .some(Value.none as Any),
            parsed: {
                ArgumentParser.Option<Value>(name: name.parsed, parsing: parsing, help: help, completion: completion)
            },
            read: { word, _ in Wrapped(argument: word).map(Value.some) })
    }

    /// An option that may be left away, read by a function that says what is wrong.
    init<Wrapped>(
        name: Names = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Wrapped
    ) where Value == Wrapped? {
        declaration = Declaration(
            .option(name), value: .some(Value.none as Any),
            parsed: {
                ArgumentParser.Option<Value>(
                    name: name.parsed, help: help, completion: completion, transform: transform)
            },
            read: { word, _ in (try? transform(word)).map(Value.some) })
    }

    /// An option with a usual value, read by a function that says what is wrong.
    init(
        wrappedValue: Value, name: Names = .long, help: ArgumentHelp? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Value
    ) {
        declaration = Declaration(
            .option(name), value: .some(wrappedValue as Any),
            parsed: {
                ArgumentParser.Option<Value>(
                    wrappedValue: wrappedValue, name: name.parsed, help: help, completion: completion,
                    transform: transform)
            },
            read: { word, _ in try? transform(word) })
    }

    /// An option that may be given several times.
    init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], name: Names = .long, parsing: ArrayParsingStrategy = .singleValue,
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        declaration = Declaration(
            .option(name), isRepeated: true, takesAnyWord: parsing == .unconditionalSingleValue, value: wrappedValue,
            parsed: {
                ArgumentParser.Option(
                    wrappedValue: wrappedValue, name: name.parsed, parsing: parsing, help: help, completion: completion)
            },
            read: Declaration.appending(Element.self))
    }
}

extension Declaration {
    /// Reads one more of several.
    static func appending<Element: ExpressibleByArgument>(_ type: Element.Type) -> (String, Any?) -> Any? {
        { word, before in Element(argument: word).map { (before as? [Element] ?? []) + [$0] } }
    }
}
