// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Compares values with a JSON Schema, of which it knows what `ykit schema` uses.
enum SchemaCheck {
    private static let known: Set<String> = [
        "type", "properties", "required", "additionalProperties", "items", "anyOf", "description", "enum", "$schema",
    ]

    /// Where a value differs from a schema.
    ///
    /// - Parameter path: Where the value stands, for the messages.
    static func problems(in value: JSONValue, _ schema: JSONValue, at path: String = "answer") -> [String] {
        let unknown = schema.object?.members.map(\.key).filter { !known.contains($0) } ?? ["no object"]
        guard unknown.isEmpty else { return ["the schema of \(path) has \(unknown)"] }
        if let choices = schema["anyOf"]?.array {
            let all = choices.map { problems(in: value, $0, at: path) }
            return all.contains([]) ? [] : all.min { $0.count < $1.count } ?? []
        }
        guard let type = schema["type"]?.string else { return [] }
        guard self.type(of: value).contains(type) else { return ["\(path) is \(value.text)"] }
        if let values = schema["enum"]?.array, !values.contains(value) { return ["\(path) is \(value.text)"] }
        if let items = schema["items"] {
            return (value.array ?? []).enumerated().flatMap { problems(in: $1, items, at: "\(path)[\($0)]") }
        }
        return value.object.map { problems(in: $0, schema, path) } ?? []
    }

    private static func type(of value: JSONValue) -> [String] {
        switch value {
        case .null: ["null"]
        case .bool: ["boolean"]
        case .int: ["integer", "number"]
        case .double: ["number"]
        case .string: ["string"]
        case .array: ["array"]
        case .object: ["object"]
        }
    }

    private static func problems(in object: JSONValue.Object, _ schema: JSONValue, _ path: String) -> [String] {
        let properties = schema["properties"]?.object ?? JSONValue.Object()
        let required = schema["required"]?.array?.compactMap(\.string) ?? []
        let missing = required.filter { object[$0] == nil }.map { "\(path).\($0) is missing" }
        return missing
            + object.members.flatMap { member in
                let path = "\(path).\(member.key)"
                let others = schema["additionalProperties"].flatMap { $0.object == nil ? nil : $0 }
                guard let form = properties[member.key] ?? others else { return ["\(path) is not declared"] }
                return problems(in: member.value, form, at: path)
            }
    }
}
