// SPDX-License-Identifier: Apache-2.0

import YKWire

extension Report {
    /// The members of a part of the report, among its own.
    package static func including<Part: Report>(_ part: @escaping @Sendable (Self) -> Part) -> [Member<Self>] {
        Part.members.map { member in Member(form: member.form) { member.value(part($0)) } }
    }

    /// The members of a part that the report may lack; its object then goes without them.
    package static func including<Part: Report>(
        ifKnown part: @escaping @Sendable (Self) -> Part?
    ) -> [Member<Self>] {
        Part.members.map { member in
            let form = MemberForm(member.form.name, member.form.about, member.form.form, isAlwaysPresent: false)
            return Member(form: form) { part($0).flatMap(member.value) }
        }
    }
}

extension Member {
    fileprivate init(form: MemberForm, _ value: @escaping @Sendable (Source) -> JSONValue?) {
        (self.form, self.value) = (form, value)
    }
}
