// SPDX-License-Identifier: Apache-2.0

/// A named option with a value.
@propertyWrapper
package struct Option<Value> {
    private var declaration: Declaration

    package var wrappedValue: Value {
        get { declaration.known() }
        set { declaration = Declaration(declaration, value: newValue) }
    }

    /// Whether the line or the configuration file has the option, rather than its variable.
    package var projectedValue: Bool { declaration.isOption }

    /// A required option; with `isBase64URL` its value may start with a dash.
    package init(
        _ names: Names, isBase64URL: Bool = false, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        declaration = Declaration(
            .option(names), help, Choices(Value.self, completion ?? names.completion), acceptsLeadingDash: isBase64URL,
            read: { word, _ in Value(argument: word) })
    }

    /// An option with a default value.
    package init(
        wrappedValue: Value, _ names: Names, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value: ExpressibleByArgument {
        declaration = Declaration(
            .option(names), help, Choices(Value.self, completion ?? names.completion), value: wrappedValue,
            standard: { wrappedValue.defaultValueDescription },
            read: { word, _ in Value(argument: word) })
    }

    /// An optional option; with `isBase64URL` its value may start with a dash, and with `omitted` the value may be
    /// omitted.
    package init<Wrapped: ExpressibleByArgument>(
        _ names: Names, variable: OptionVariable? = nil, isBase64URL: Bool = false, omitted: OmittedValue? = nil,
        help: @escaping @autoclosure () -> String? = nil, completion: CompletionKind? = nil
    ) where Value == Wrapped? {
        declaration = Declaration(
            .option(names), help, Choices(Wrapped.self, completion ?? names.completion),
            acceptsLeadingDash: isBase64URL,
            omitted: omitted, variable: variable, value: .some(Value.none as Any),
            read: { word, _ in Wrapped(argument: word).map(Value.some) })
    }

    /// An option with a default value that accepts only some values of its type.
    package init(
        wrappedValue: Value, _ names: Names, among values: [Value], help: @escaping @autoclosure () -> String? = nil
    ) where Value: ExpressibleByArgument & Equatable & Sendable {
        let choice = Choice(values)
        declaration = Declaration(
            .option(names), help, Choices { choice.names }, value: .some(wrappedValue as Any),
            standard: { wrappedValue.defaultValueDescription },
            read: { word, _ in try choice.value(word) })
    }

    /// An optional option that accepts only some values of its type.
    package init<Wrapped: ExpressibleByArgument & Equatable & Sendable>(
        _ names: Names, among values: [Wrapped], help: @escaping @autoclosure () -> String? = nil
    ) where Value == Wrapped? {
        let choice = Choice(values)
        declaration = Declaration(
            .option(names), help, Choices { choice.names }, value: .some(Value.none as Any),
            read: { word, _ in Value.some(try choice.value(word)) })
    }

    /// An optional option, parsed by a function that explains errors.
    package init<Wrapped>(
        _ names: Names, variable: OptionVariable? = nil, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil, transform: @escaping @Sendable (String) throws -> Wrapped
    ) where Value == Wrapped? {
        declaration = Declaration(
            .option(names), help, Choices(completion ?? names.completion), variable: variable,
            value: .some(Value.none as Any),
            read: { word, _ in Value.some(try transform(word)) })
    }

    /// An option with a default value, parsed by a function that explains errors.
    package init(
        wrappedValue: Value, _ names: Names, help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil,
        transform: @escaping @Sendable (String) throws -> Value
    ) {
        declaration = Declaration(
            .option(names), help, Choices(completion ?? names.completion), value: .some(wrappedValue as Any),
            read: { word, _ in try transform(word) })
    }

    /// A repeatable option; with `isBase64URL` its values may start with a dash.
    package init<Element: ExpressibleByArgument>(
        wrappedValue: [Element], _ names: Names, isBase64URL: Bool = false,
        help: @escaping @autoclosure () -> String? = nil,
        completion: CompletionKind? = nil
    ) where Value == [Element] {
        declaration = Declaration(
            .option(names), help, Choices(Element.self, completion ?? names.completion), isRepeated: true,
            acceptsLeadingDash: isBase64URL,
            value: wrappedValue,
            read: Declaration.appending(Element.self))
    }
}

/// The values of a type that an option accepts.
private struct Choice<Value: ExpressibleByArgument & Equatable & Sendable>: Sendable {
    let values: [Value]

    init(_ values: [Value]) { self.values = values }

    /// The values as they are typed.
    var names: [String] { values.map { $0.defaultValueDescription } }

    /// Returns the value that a word names.
    func value(_ word: String) throws -> Value {
        // The generic 'contains' of a sequence would search the conformances of the whole program (tools/bench/start).
        guard let value = Value(argument: word), values.indices.contains(where: { values[$0] == value }) else {
            let all = names.map { "'\($0)'" }
            throw UsageError("expected " + all.dropLast().joined(separator: ", ") + " or \(all.last ?? "")")
        }
        return value
    }
}

extension Declaration {
    /// Parses one more value.
    static func appending<Element: ExpressibleByArgument>(_ type: Element.Type) -> (String, Any?) throws -> Any? {
        { word, before in Element(argument: word).map { (before as? [Element] ?? []) + [$0] } }
    }
}
