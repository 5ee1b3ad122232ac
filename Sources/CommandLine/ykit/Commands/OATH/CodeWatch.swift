// SPDX-License-Identifier: Apache-2.0

import Glibc
import YKOATH
import YKWire

/// A live view of all codes: redrawn every second on a terminal; otherwise one answer each time the codes change. Other
/// programs can use the card in between.
struct CodeWatch {
    let world: World
    let service: OATHService
    let showHidden: Bool

    /// Runs until ^C.
    func run() async throws -> Answer {
        var drawn = 0
        while true {
            let time = world.now
            let entries = try await service.codes(at: time).filter { showHidden || !$0.account.id.isHidden }
            await service.rest()
            let end = max(time + 1, entries.compactMap { $0.code?.validTo }.min() ?? time + 30)
            if world.terminal.isOutputTerminal, !world.options.json {
                try countdown(entries, until: end, &drawn)
            } else {
                report(entries, at: time)
                try Interruption.sleep(until: end)
            }
        }
    }

    private func report(_ entries: [OATHEntry], at time: Int64) {
        if world.options.json {
            let object: JSON = [
                "ok": true, "error": nil, "warnings": [], "accounts": .array(entries.map(\.json)), "time": .int(time),
            ]
            world.terminal.line(object.text)
        } else {
            Table.lines(entries.map { [$0.account.id.told(among: entries.map(\.account.id)), $0.text] }).forEach(
                world.terminal.line)
            world.terminal.line("")
        }
    }

    private func countdown(_ entries: [OATHEntry], until end: Int64, _ drawn: inout Int) throws {
        repeat {
            let now = world.now
            if drawn > 0 { world.terminal.draw("\u{1B}[\(drawn)A\r\u{1B}[J", to: 1) }
            let table = CodeTable(world, showHidden: showHidden)
            let lines = fitting(Table.lines(entries.map { table.row($0, at: now, among: entries.map(\.account.id)) }))
            lines.forEach(world.terminal.line)
            drawn = lines.count
            try Interruption.sleep(until: now + 1)
        } while world.now < end
    }

    /// The lines that fit on the terminal: lines that wrap or scroll away could not be redrawn.
    private func fitting(_ lines: [String]) -> [String] {
        let (columns, most) = (world.terminal.columns, max(1, world.terminal.rows - 2))
        let rest = lines.count > most ? ["… \(lines.count - most) more"] : []
        return lines.prefix(most).map { $0.clipped(to: columns) } + rest
    }
}
