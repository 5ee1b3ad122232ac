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
        case .choice(let texts): ["type": "string", "enum": .array(texts.map(JSONValue.string))]
        case .dictionary(let form): ["type": "object", "additionalProperties": form.schema]
        case .any: [:]
        case .list(let form): ["type": "array", "items": form.schema]
        case .object(let members): Self.schema(of: members)
        case .optional(let form): ["anyOf": [form.schema, ["type": "null"]]]
        }
    }

    /// Whether a value has this form.
    package func accepts(_ value: JSONValue) -> Bool {
        switch (self, value) {
        case (.any, _), (.optional, .null), (.text, .string), (.integer, .int), (.flag, .bool): true
        case (.number, .int), (.number, .double): true
        case (.choice(let texts), .string(let text)): texts.contains(text)
        case (.optional(let form), _): form.accepts(value)
        case (.list(let form), .array(let values)): values.allSatisfy(form.accepts)
        case (.dictionary(let form), .object(let object)): object.members.allSatisfy { form.accepts($0.value) }
        case (.object(let forms), .object(let object)):
            forms.allSatisfy { form in
                object[form.name].map(form.form.accepts) ?? !form.isAlwaysPresent
            }
        default: false
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
            MemberForm("warnings", "", .list(Warning.form)),
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
