// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKTransport

extension World {
    /// Where the key is that is touched. All HID keys blink; the others are called off when one was touched.
    func touchedKey() async throws -> String {
        let paths = selectable
        guard paths.count > 1 else { return try await touchedOnlyKey() }
        let rivals = paths.map { Rival(path: $0, environment: environment) }
        terminal.say("\(paths.count) keys are attached: touch the one that is meant")
        let watch = Task {
            while !Interruption.happened { try await Task.sleep(for: .milliseconds(50)) }
            rivals.forEach { $0.cancellation.cancel() }
        }
        defer { watch.cancel() }
        return try await Rival.first(of: rivals)
    }

    /// The nodes of the keys that can be chosen from; none when one is meant already.
    private var selectable: [String] {
        guard replay == nil, software == nil, selection.path == nil, selection.reader == nil, selection.device == nil,
            selection.link != .pcsc, selection.link != .usb
        else { return [] }
        return HIDNode.attached(environment, asking: false).filter { $0.device.access == .readable }.map(\.device.path)
    }

    private func touchedOnlyKey() async throws -> String {
        let way = try fidoWay()
        if case .card = way, software == nil, replay == nil {
            throw Explanation(
                "not-hid", .notSupported, "a touch chooses among keys over HID, and only a card reader has a key",
                hint: "choose with --reader NAME or --device SERIAL; 'ykit list' shows them")
        }
        let service = try await openFIDO()
        try await service.select()
        switch way {
        case .card: return try selection.reader ?? (software == nil ? cardWay().name : "virtual")
        case .reports(let path): return path ?? replay?.capture.header.reader ?? "virtual"
        }
    }
}

/// One of several keys that wait for a touch.
private struct Rival: Sendable {
    let path: String
    var environment: Environment
    let cancellation = Cancellation()

    init(path: String, environment: Environment) {
        self.path = path
        self.environment = environment
        self.environment.cancellation = cancellation
    }

    /// Waits for the touch.
    func wait() async throws {
        let device = try HIDRaw.open(path, deadline: environment.deadline())
        try await FIDOService.open(hid: device, environment: environment).select()
    }

    /// The path of the first that is touched, when all others have ended; `touchTimeout` when the time ends before.
    static func first(of rivals: [Rival]) async throws -> String {
        try await withThrowingTaskGroup(of: Result<String, any Error>.self) { group in
            for rival in rivals {
                group.addTask {
                    do {
                        try await rival.wait()
                        return .success(rival.path)
                    } catch { return .failure(error) }
                }
            }
            var winner: String?
            var problem: any Error = LinkError.cancelled
            while let result = try await group.next() {
                switch result {
                case .success(let path):
                    winner = winner ?? path
                    rivals.forEach { $0.cancellation.cancel() }
                case .failure(let error):
                    problem = error
                    guard case .ctap(.link(let cause))? = error as? FIDOError, case .timedOut? = cause.link else {
                        break
                    }
                    problem = FIDOError.touchTimeout
                }
            }
            guard let winner else { throw problem }
            return winner
        }
    }
}
