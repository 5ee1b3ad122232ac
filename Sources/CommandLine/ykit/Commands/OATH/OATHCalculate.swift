// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKOATH
import YKWire

/// Calculates codes.
struct OATHCalculate: Verb {
    static let about = About(
        "calculate", "Show the codes of all accounts, or of the one that matches a query.",
        discussion: """
            A query is a whole name, or a part of one in any letter case. With a query only the code is printed; a \
            counter-based account advances, and an account that requires a touch waits for it.
            """,
        aliases: ["code"], members: ["accounts", "code", "time"])

    @Argument(help: "Which account: its name or a part of it; 60/NAME for the one of that period.") var query: String?

    @Flag(name: .shortAndLong, help: "Print only the code; fail unless there is exactly one account.")
    var single = false

    @Flag(help: "Show accounts of issuer _hidden as well.") var showHidden = false

    @Flag(name: .shortAndLong, help: "Copy the code to the clipboard, and clear it when the code expires.")
    var clipboard = false

    @Option(help: ArgumentHelp("Make codes for this time, in seconds since 1970.", valueName: "seconds")) var at: Int64?

    @OptionGroup var password: PasswordOptions

    func check() throws {
        if clipboard, query == nil, !single { throw UsageError("--clipboard needs one account, name it") }
    }

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        guard query != nil || single else {
            return try await CodeTable(world, showHidden: showHidden, time: at).answer(from: service)
        }
        let time = at ?? world.now
        let entries = try await service.codes(at: time, recalculating: false)
        let id = try OATHAccountID.one(
            query ?? "", in: entries.map(\.account.id), showHidden: showHidden, single ? nil : world)
        guard let entry = entries.first(where: { $0.account.id == id }) else { throw OATHError.noSuchAccount }
        let code = try await code(of: entry, service, world)
        let result = OATHEntry(account: entry.account, outcome: .code(code))
        if clipboard { try copy(code, world) }
        return Answer(
            clipboard ? [] : [Style.bold.around(code.text)],
            ["accounts": .array([result.json]), "code": .string(code.text), "time": .int(time)])
    }

    private func code(of entry: OATHEntry, _ service: OATHService, _ world: World) async throws -> OATHCode {
        switch entry.outcome {
        case .code(let code): return code
        case .failed(let error): throw error
        case .hotp, .separate: return try await service.code(for: entry.account.id, at: at)
        case .needsTouch:
            world.terminal.purpose("make a code for \(entry.account.id.text.printable)")
            return try await TouchPrompt.during(world.terminal) {
                try await service.code(for: entry.account.id, at: at)
            }
        }
    }

    private func copy(_ code: OATHCode, _ world: World) throws {
        let now = world.now
        let seconds = max(1, code.validTo.map { $0 - now } ?? 30)
        try Clipboard.put(code.text, for: seconds)
        world.terminal.notice("the code is on the clipboard for \(seconds) s")
    }
}
