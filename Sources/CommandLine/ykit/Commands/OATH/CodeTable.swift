// SPDX-License-Identifier: Apache-2.0

import YKOATH
import YKWire

/// All codes at a given time.
struct CodeTable {
    let world: World
    let showHidden: Bool
    let time: Int64?

    init(_ world: World, showHidden: Bool, time: Int64? = nil) {
        self.world = world
        self.showHidden = showHidden
        self.time = time
    }

    func answer(from service: OATHService) async throws -> Answer {
        let time = self.time ?? world.now
        let all = try await service.codes(at: time)
        await world.remember(all.map(\.account.id), of: service)
        let entries = all.filter { showHidden || !$0.account.id.isHidden }
        if entries.isEmpty { world.terminal.note(OATHList.none) }
        var answer = Answer(
            Table.lines(entries.map { row($0, at: time, among: entries.map(\.account.id)) }),
            ["accounts": .array(entries.map(\.json)), "time": .int(time)])
        for entry in entries {
            guard case .failed(let error) = entry.outcome else { continue }
            let explanation = Explain.oath(error)
            if world.options.strict { throw explanation }
            answer.warnings.append("\(entry.account.id.text.printable): \(explanation.message)")
            if answer.failure == nil {
                answer.failure = explanation
                answer.failure?.message = "no code for '\(entry.account.id.text.printable)': \(explanation.message)"
            }
        }
        return answer
    }

    /// The name and code; on a terminal also the remaining time.
    func row(_ entry: OATHEntry, at time: Int64, among ids: [OATHAccountID]) -> [String] {
        let style: Style = entry.code == nil ? .dim : .bold
        let row = [entry.account.id.told(among: ids), style.around(entry.text)]
        guard world.terminal.isOutputTerminal, let end = entry.code?.validTo else { return row }
        let left = max(0, end - time)
        return row + [(left <= 5 ? Style.yellow : .dim).around("\(left) s")]
    }
}
