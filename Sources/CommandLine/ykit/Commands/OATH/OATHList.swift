// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOATH
import YKWire

/// Lists accounts.
struct OATHList: Verb {
    static let about = About(
        "list", "List accounts.",
        discussion: "With --watch the codes are shown with a countdown until ^C ends it.",
        members: ["accounts", "time"])

    @Flag(name: .shortAndLong, help: "Show type, algorithm and period.") var long = false

    @Flag(help: "Show codes too, as 'ykit oath calculate' does.") var codes = false

    @Flag(name: .shortAndLong, help: "Show codes and keep them up to date.") var watch = false

    @Flag(help: "Show accounts of issuer _hidden as well.") var showHidden = false

    @OptionGroup var password: PasswordOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        if watch { return try await CodeWatch(world: world, service: service, showHidden: showHidden).run() }
        if codes { return try await CodeTable(world, showHidden: showHidden).answer(from: service) }
        let all = try await service.accounts()
        await world.remember(all.map(\.id), of: service)
        let accounts = all.filter { showHidden || !$0.id.isHidden }
        let lines =
            long
            ? Table.lines(accounts.map(Self.row)) : accounts.map { $0.id.told(among: accounts.map(\.id)) }
        if accounts.isEmpty { world.terminal.note(Self.none) }
        return Answer(lines, ["accounts": .array(accounts.map { .object($0.json) })])
    }

    /// Shown to people in place of an empty list.
    static let none = "no accounts yet; add one with: ykit oath add NAME"

    private static func row(_ account: OATHAccount) -> [String] {
        [
            account.id.text.printable, account.type.description, account.algorithm?.description ?? "?",
            account.type == .totp ? "\(account.id.period.components.seconds) s" : "",
        ]
    }
}
