// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKOATH
import YKWire

/// Deletes an account.
struct OATHDelete: Verb {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete an account. Its secret cannot be brought back.")
    static let members = ["id"]

    @Argument(help: "Which account: its name or a part of it.")
    var query: String

    @OptionGroup var confirmation: Confirmation

    @OptionGroup(title: "Password Options")
    var password: PasswordOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let id = try AccountMatch.one(query, in: try await service.accounts().map(\.id), showHidden: true)
        try confirmation.ask("delete '\(id.text.printable)'? its secret cannot be brought back", in: world)
        try await service.delete(id)
        return Answer("deleted '\(id.text.printable)'", ["id": .string(id.text)])
    }
}
