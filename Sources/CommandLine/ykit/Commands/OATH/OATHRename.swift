// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOATH
import YKWire

/// Renames an account.
struct OATHRename: Verb {
    static let about = About(
        "rename", "Rename an account (firmware 5.3.1 and later).",
        discussion: "NAME is the whole new name, 'issuer:name'; the period stays.", members: ["id", "newId"])

    @Argument(help: "Which account: its name or a part of it; 60/NAME for the one of that period.") var query: String

    @Argument(help: ArgumentHelp("The new name, 'issuer:name'.", valueName: "name")) var newName: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let accounts = try await service.accounts()
        let id = try OATHAccountID.one(query, in: accounts.map(\.id), showHidden: true, world)
        let new = OATHAccountID(issuer: nil, name: newName, period: id.period, type: id.type)
        if accounts.contains(where: { $0.id.rawName == new.rawName }) {
            throw Explanation(
                "exists", .policy, "an account '\(new.text.printable)' is there already",
                hint: "delete it first, or choose another name")
        }
        try confirmation.ask("rename '\(id.text.printable)' to '\(new.text.printable)'?", in: world)
        try await service.rename(id, to: new)
        return Answer(
            "renamed '\(id.text.printable)' to '\(new.text.printable)'",
            ["id": .string(id.text), "newId": .string(new.text)])
    }
}
