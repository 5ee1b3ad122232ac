// SPDX-License-Identifier: Apache-2.0

import YKWire

extension Report {
    /// A time as a number, and as text in a second member with the suffix `UTC`.
    package static func time(
        _ name: String, _ about: String = "", _ value: @escaping @Sendable (Self) -> Int64?
    ) -> [Member<Self>] {
        let form = "seconds since 1970"
        return [
            Member(name, about.isEmpty ? form : "\(about); \(form)", value),
            Member(name + "UTC", "the same in RFC 3339") { value($0).map { UTCDate.timestamp($0) } },
        ]
    }

    /// The members of a part of the report, among its own.
    package static func including<Part: Report>(_ part: @escaping @Sendable (Self) -> Part) -> [Member<Self>] {
        Part.members.map { member in
            Member(form: member.form, rows: { member.rows(part($0)) }) { member.value(part($0)) }
        }
    }

    /// The members of an optional part; without the part, the object omits them.
    package static func including<Part: Report>(
        ifKnown part: @escaping @Sendable (Self) -> Part?
    ) -> [Member<Self>] {
        Part.members.map { member in
            let form = MemberForm(member.form.name, member.form.about, member.form.form, isAlwaysPresent: false)
            return Member(form: form, rows: { part($0).map(member.rows) ?? [] }) { part($0).flatMap(member.value) }
        }
    }
}
