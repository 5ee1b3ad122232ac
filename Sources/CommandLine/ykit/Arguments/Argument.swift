// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A word without a name, declared as with ArgumentParser, and read without it where that is possible.
@propertyWrapper
struct Argument<Value>: Codable {
    private var declaration: Declaration

    var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(known: newValue) }
    }

    /// Reads what ArgumentParser found.
    init(from decoder: any Decoder) throws {
        declaration = Declaration(known: try ArgumentParser.Argument<Value>(from: decoder).wrappedValue)
    }

    func encode(to encoder: any Encoder) { DeclarationCollector.add(declaration, to: encoder) }

    /// A word that has to be there; `isBase64URL` where it may begin with a dash for that.
    init(isBase64URL: Bool = false, help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value: ExpressibleByArgument {
        declaration = Declaration(
            .argument, takesAnyWord: isBase64URL,
            parsed: { ArgumentParser.Argument<Value>(help: help, completion: completion) },
            read: { word, _ in Value(argument: word) })
    }

    /// A word that may be left away for a usual value.
    init(wrappedValue: Value, help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value: ExpressibleByArgument {
        declaration = Declaration(
            .argument, value: wrappedValue,
            parsed: { ArgumentParser.Argument(wrappedValue: wrappedValue, help: help, completion: completion) },
            read: { word, _ in Value(argument: word) })
    }

    /// A word that may be left away.
    init<Wrapped: ExpressibleByArgument>(help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value == Wrapped? {
        declaration = Declaration(
            .argument, value: .some(Value.none as Any),
            parsed: { ArgumentParser.Argument<Value>(help: help, completion: completion) },
            read: { word, _ in Wrapped(argument: word).map(Value.some) })
    }

    /// A word that has to be there, read by a function that says what is wrong.
    init(
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Value
    ) {
        declaration = Declaration(
            .argument,
            parsed: { ArgumentParser.Argument<Value>(help: help, completion: completion, transform: transform) },
            read: { word, _ in try? transform(word) })
    }

    /// A word that may be left away, read by a function that says what is wrong.
    init<Wrapped>(
        help: ArgumentHelp? = nil, completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Wrapped
    ) where Value == Wrapped? {
        declaration = Declaration(
            .argument, value: .some(Value.none as Any),
            parsed: {
                ArgumentParser.Argument<Value>(help: help, completion: completion, transform: transform)
            },
            read: { word, _ in (try? transform(word)).map(Value.some) })
    }

    /// All words that are left.
    init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], help: ArgumentHelp? = nil, completion: CompletionKind? = nil
    ) where Value == [Element] {
        declaration = Declaration(
            .argument, isRepeated: true, value: wrappedValue,
            parsed: { ArgumentParser.Argument(wrappedValue: wrappedValue, help: help, completion: completion) },
            read: Declaration.appending(Element.self))
    }

    /// All words that are left, at least one.
    init<Element: ExpressibleByArgument>(help: ArgumentHelp? = nil, completion: CompletionKind? = nil)
    where Value == [Element] {
        declaration = Declaration(
            .argument, isRepeated: true,
            parsed: { ArgumentParser.Argument<Value>(help: help, completion: completion) },
            read: Declaration.appending(Element.self))
    }
}
