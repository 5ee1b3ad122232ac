// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKTransport

extension KeyRing {
    /// Waits until one of several FIDO keys is touched. All of them blink; the others are cancelled when one is touched.
    ///
    /// - Parameter announce: Called with the number of keys when they start to blink.
    /// - Returns: The node of the key; `nil` when there are fewer than two candidates, or one is already selected.
    /// - Throws: `FIDOError.touchTimeout` when the timeout expires first, `cancelled`, or the failure of a key.
    package func touchedNode(_ announce: @Sendable (Int) -> Void) async throws -> String? {
        let paths = selectable
        guard paths.count > 1 else { return nil }
        let rivals = paths.map { TouchCandidate(path: $0, keys: self) }
        announce(paths.count)
        let cancellation = environment.cancellation
        let watch = Task {
            while !cancellation.isCancelled { try await Task.sleep(for: .milliseconds(50)) }
            rivals.forEach { $0.cancellation.cancel() }
        }
        defer { watch.cancel() }
        return try await withTaskCancellationHandler {
            try await TouchCandidate.first(of: rivals)
        } onCancel: {
            rivals.forEach { $0.cancellation.cancel() }
        }
    }

    /// The nodes of the candidate keys; empty when one is already selected.
    private var selectable: [String] {
        guard case .machine = source, target.path == nil, target.reader == nil, target.serial == nil,
            target.transport == .auto || target.transport == .hid
        else { return [] }
        return fidoDevices().filter { $0.access == .readable }.map(\.path)
    }

    /// The location of the key whose FIDO application was opened: a node, a reader, or a USB port.
    ///
    /// - Throws: `touchRequiresHID` when only a card is attached.
    package func touchPlace() throws(KeyError) -> String {
        switch try fidoRoute() {
        case .reports(let path): return path ?? replay?.capture.header.reader ?? "virtual"
        case .card:
            if case .machine = source { throw .touchRequiresHID }
            return replay?.capture.header.reader ?? target.reader ?? "virtual"
        }
    }
}

/// One of several keys waiting for a touch.
private struct TouchCandidate: Sendable {
    let path: String
    let keys: KeyRing
    let cancellation = Cancellation()

    init(path: String, keys: KeyRing) {
        self.path = path
        var keys = keys
        keys.environment.cancellation = cancellation
        keys.decoration = LinkDecoration()
        self.keys = keys
    }

    /// Waits for the touch.
    func wait() async throws {
        let device = try keys.reports(path)
        try await FIDOService.open(hid: device, environment: keys.environment).select()
    }

    /// Returns the path of the first key that is touched, once the waits of all others have ended.
    static func first(of rivals: [TouchCandidate]) async throws -> String {
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
            var problem: any Error = KeyError.link(.cancelled)
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
