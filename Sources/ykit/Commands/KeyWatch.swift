// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

/// Tells of readers, cards and HID keys that come and go: one line each, or one answer each.
struct KeyWatch {
    let terminal: Terminal
    let isJSON: Bool

    /// What happened to one of them.
    private enum Event: String {
        case arrived, changed, left

        var sign: String {
            switch self {
            case .arrived: "+"
            case .changed: "~"
            case .left: "-"
            }
        }
    }

    /// Runs until ^C.
    func run() async throws -> Answer {
        try await withThrowingTaskGroup { group in
            group.addTask { for await event in HIDRaw.watch() { tell(event) } }
            group.addTask { for await event in PCSC.watch() { tell(event) } }
            group.addTask {
                while !Interruption.happened { try await Task.sleep(for: .milliseconds(50)) }
                throw Explain.interrupted
            }
            while try await group.next() != nil {}  // The first failure ends all.
        }
        return Answer()
    }

    private func tell(_ event: HIDEvent) {
        switch event {
        case .arrived(let device) where device.isFIDO: tell(.arrived, .device(device))
        case .changed(let device) where device.isFIDO: tell(.changed, .device(device))
        case .left(let device) where device.isFIDO: tell(.left, .device(device))
        default: break
        }
    }

    private func tell(_ event: ReaderEvent) {
        switch event {
        case .added(let reader): tell(.arrived, .card(ListedCard(reader)))
        case .changed(let reader): tell(.changed, .card(ListedCard(reader)))
        case .removed(let name): tell(.left, .card(ListedCard(ReaderStatus(name: name, hasCard: false))))
        case .interrupted(let why): if !isJSON { terminal.warn(Explain.link(why).message) }
        case .enumerated: break
        }
    }

    private func tell(_ event: Event, _ key: ListedKey) {
        if isJSON {
            let answer: JSON = [
                "ok": true, "error": nil, "warnings": [], "devices": [key.json], "event": .string(event.rawValue),
            ]
            terminal.line(answer.text)
        } else {
            let words = event == .left ? Array(key.row.prefix(1)) : key.row
            terminal.line("\(event.sign) \(words.joined(separator: "  "))")
        }
    }
}
