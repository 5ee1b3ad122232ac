// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import YKOATH
import YKTransport

/// A card that answers with the pieces of an input one after the other, and then with nothing but 9000.
final class ScriptedCard: CardLink {
    let identity: CardIdentity
    private var replies: [[UInt8]]

    init(_ replies: [[UInt8]], atr: [UInt8] = []) {
        identity = CardIdentity(reader: "fuzz", atr: atr)
        self.replies = replies.reversed()
    }

    func exchange(_ command: [UInt8], deadline: Deadline) -> [UInt8] { replies.popLast() ?? [0x90, 0x00] }
    func begin(deadline: Deadline) -> Bool { false }
    func end() {}
    func reset(_ kind: CardReset, deadline: Deadline) {}
    func close() {}
}

/// The input cut into replies: each piece is headed by its length in one byte.
func pieces(_ bytes: [UInt8]) -> [[UInt8]] {
    var rest = bytes[...]
    var list: [[UInt8]] = []
    while let length = rest.popFirst(), list.count < 64 {
        list.append(Array(rest.prefix(Int(length))))
        rest = rest.dropFirst(Int(length))
    }
    return list
}

private let unlockedSelect: [UInt8] =
    [0x79, 0x03, 0x05, 0x07, 0x01, 0x71, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]
private let lockedSelect: [UInt8] =
    Array(unlockedSelect.dropLast(2)) + [0x74, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 0x90, 0x00]

/// Opens the OATH application of a scripted card and does `work`, waiting for the end of it.
func withOATH(
    _ replies: [[UInt8]], select: Selection = .unlocked, _ work: @escaping @Sendable (OATHService) async throws -> Void
) {
    let all = select.replies + replies
    let done = DispatchSemaphore(value: 0)
    Task {
        let environment = ServiceEnvironment(clock: FixedClock(1_760_000_000), timeout: .seconds(5))
        let channel = CardChannel(link: ScriptedCard(all), environment: environment)
        if let service = try? await OATHService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}

/// What the card answers to SELECT.
enum Selection {
    case unlocked, locked, fuzzed

    var replies: [[UInt8]] {
        switch self {
        case .unlocked: [unlockedSelect]
        case .locked: [lockedSelect]
        case .fuzzed: []
        }
    }
}
