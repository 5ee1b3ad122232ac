// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The members of an object in the state file: each is consumed once, and none may remain.
package struct StateFields {
    private var object: JSONValue.Object
    private let path: String

    /// An invalid field and the reason.
    package struct Fault: Error, Hashable {
        let field: String
        let reason: String
    }

    init(_ json: JSONValue?, path: String) throws(Fault) {
        guard case .object(let object) = json else { throw Fault(field: path, reason: "expected an object") }
        self.object = object
        self.path = path
    }

    private func name(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }

    func fault(_ key: String, _ reason: String) -> Fault { Fault(field: name(key), reason: reason) }

    func has(_ key: String) -> Bool { object[key] != nil }

    mutating func take(_ key: String) -> JSONValue? {
        defer { object[key] = nil }
        return object[key]
    }

    mutating func text(_ key: String) throws(Fault) -> String {
        guard let text = take(key)?.string else { throw fault(key, "expected a string") }
        return text
    }

    mutating func bytes(_ key: String) throws(Fault) -> [UInt8] {
        guard let bytes = try? Hex.decode(try text(key)) else { throw fault(key, "expected hexadecimal digits") }
        return bytes
    }

    mutating func number<Number: FixedWidthInteger>(
        _ key: String, _ range: ClosedRange<Number>
    ) throws(Fault) -> Number {
        guard let value = take(key)?.int, let number = Number(exactly: value), range.contains(number) else {
            throw fault(key, "expected a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    mutating func flag(_ key: String) throws(Fault) -> Bool {
        guard let value = take(key) else { return false }
        guard let flag = value.bool else { throw fault(key, "expected true or false") }
        return flag
    }

    mutating func choice<Choice>(_ key: String, _ choices: [(String, Choice)]) throws(Fault) -> Choice {
        let text = try text(key)
        guard let choice = choices.first(where: { $0.0 == text })?.1 else {
            throw fault(key, "expected one of \(choices.map(\.0).joined(separator: ", "))")
        }
        return choice
    }

    mutating func fields(_ key: String) throws(Fault) -> StateFields {
        try StateFields(take(key), path: name(key))
    }

    mutating func list(_ key: String) throws(Fault) -> [StateFields] {
        guard let elements = take(key)?.array else { throw fault(key, "expected an array") }
        var list: [StateFields] = []
        for (index, element) in elements.enumerated() {
            list.append(try StateFields(element, path: "\(name(key))[\(index)]"))
        }
        return list
    }

    /// An unknown field would be lost at the next change, so it is rejected.
    func finish() throws(Fault) {
        if let member = object.members.first { throw fault(member.key, "unknown field") }
    }
}
