// SPDX-License-Identifier: Apache-2.0

package import YKWire

extension JSONForm {
    /// The form as JSON Schema (draft 2020-12, json-schema.org).
    package var schema: JSONValue {
        switch self {
        case .text: ["type": "string"]
        case .integer: ["type": "integer"]
        case .number: ["type": "number"]
        case .flag: ["type": "boolean"]
        case .any: [:]
        case .list(let form): ["type": "array", "items": form.schema]
        case .object(let members): Self.schema(of: members)
        case .optional(let form): ["anyOf": [form.schema, ["type": "null"]]]
        }
    }

    /// The form or `null`, which some forms are already.
    private var orNull: JSONForm {
        if case .optional = self { self } else { .optional(self) }
    }

    /// The schema of an object that has these members and no others.
    package static func schema(of members: [MemberForm]) -> JSONValue {
        var properties = JSONValue.Object()
        for member in members {
            var schema = member.form.schema
            if !member.about.isEmpty, case .object(var object) = schema {
                object["description"] = .string(member.about)
                schema = .object(object)
            }
            properties[member.name] = schema
        }
        return [
            "type": "object", "properties": .object(properties),
            "required": .array(members.filter(\.isAlwaysPresent).map { .string($0.name) }),
            "additionalProperties": false,
        ]
    }

    /// The schema of a verb's answer. If the verb fails, `error` is an object and the members may be `null`.
    ///
    /// - Parameter plan: The members that a plan has instead of those of the verb, which are then `null`.
    package static func answer(of members: [MemberForm], orElse plan: [MemberForm] = []) -> JSONValue {
        let envelope = [
            MemberForm("ok", "", .flag), MemberForm("error", "", .optional(Explanation.form)),
            MemberForm("warnings", "", .list(.text)),
        ]
        return schema(
            of: envelope
                + members.map { member in
                    MemberForm(
                        member.name, member.about, member.form.orNull, isAlwaysPresent: member.isAlwaysPresent)
                }
                + plan.map { member in
                    MemberForm(member.name, member.about, member.form, isAlwaysPresent: false)
                })
    }
}
