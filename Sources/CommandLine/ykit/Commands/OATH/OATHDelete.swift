// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOATH
import YKWire

/// Deletes an account.
struct OATHDelete: Verb {
    static let about = About("delete", "Delete an account. Its secret cannot be recovered.", members: ["id"])

    @Argument(help: "Which account: its name or a part of it; 60/NAME for the one of that period.") var query: String

    @OptionGroup var confirmation: Confirmation
    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let ids = try await service.accounts().map(\.id)
        let id = try OATHAccountID.one(query, in: ids, showHidden: true, world)
        let told = id.told(among: ids)
        try confirmation.ask("delete '\(told)'? its secret cannot be recovered", in: world)
        try await service.delete(id)
        return Answer("deleted '\(told)'", ["id": .string(id.text)])
    }
}
