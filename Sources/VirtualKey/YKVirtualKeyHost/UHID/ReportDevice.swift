// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// A HID device that exchanges 64-byte reports with its host: a virtual key, or whatever answers in the place of one.
package protocol ReportDevice {
    /// Processes a report from the host, without a report number.
    mutating func receive(_ report: [UInt8], at now: ContinuousClock.Instant)
    /// Performs work that is due.
    mutating func poll(at now: ContinuousClock.Instant)
    /// Removes and returns the next report for the host.
    mutating func next(at now: ContinuousClock.Instant) -> [UInt8]?
    /// The time until work is due; `nil` if there is none until a report arrives.
    func pause(at now: ContinuousClock.Instant) -> Duration?
    /// The longest wait while no work is due; `nil` if whatever changes signals the wake that ``UHIDDevice`` was given.
    func idlePause(at now: ContinuousClock.Instant) -> Duration?
    /// Called when the last program has closed the node.
    mutating func closed(at now: ContinuousClock.Instant)
    /// Whether the device is to be unplugged.
    var isUnplugged: Bool { get }
}

extension ReportDevice {
    package func idlePause(at now: ContinuousClock.Instant) -> Duration? { .milliseconds(50) }
}

extension FIDOInterface: ReportDevice {
    package mutating func next(at now: ContinuousClock.Instant) -> [UInt8]? { next(endpoint: Self.input, at: now) }
    /// Does nothing: a key does not notice that its node was closed.
    package mutating func closed(at now: ContinuousClock.Instant) {}
    package var isUnplugged: Bool { absence != nil }
}
