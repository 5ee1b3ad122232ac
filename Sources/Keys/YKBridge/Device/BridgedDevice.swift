// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey
import YKVirtualKeyHost

/// The CTAPHID device that programs see.
struct BridgedDevice: ReportDevice {
    private var hid = VirtualHID(version: [1, 0, 0])
    private let authenticator: CardAuthenticator
    private var isDone = false

    init(_ authenticator: CardAuthenticator) {
        self.authenticator = authenticator
        // The authenticator decides how long it waits.
        hid.touchTime = .seconds(24 * 3600)
    }

    var isUnplugged: Bool { isDone }

    mutating func receive(_ report: [UInt8], at now: ContinuousClock.Instant) {
        let winks = hid.winks
        hid.capabilities = authenticator.capabilities
        hid.receive(report, at: now) { [authenticator] in authenticator.run($0, at: now) }
        if hid.winks != winks { authenticator.report(.winked) }
        authenticator.keep(hid.pending, at: now)
    }

    mutating func poll(at now: ContinuousClock.Instant) {
        authenticator.poll(at: now)
        hid.poll(at: now) { [authenticator] in authenticator.run($0, at: now) }
        authenticator.keep(hid.pending, at: now)
        isDone = !authenticator.isWanted(at: now)
    }

    mutating func next(at now: ContinuousClock.Instant) -> [UInt8]? { hid.next(at: now) }

    func pause(at now: ContinuousClock.Instant) -> Duration? { hid.pause(at: now) }

    mutating func closed(at now: ContinuousClock.Instant) {
        hid.drop()
        authenticator.closed(at: now)
    }
}
