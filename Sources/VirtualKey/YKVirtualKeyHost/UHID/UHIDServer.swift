// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKVirtualKey

/// Makes a virtual key's FIDO interface a HID device of this machine through the kernel's uhid; programs find it as
/// `/dev/hidraw…`.
public struct UHIDServer {
    private var served: ServedKey
    private let open: UHIDDevice.Opening
    /// How long the key waits for a touch.
    public var touchTime: Duration {
        get { served.touchTime }
        set { served.touchTime = newValue }
    }

    /// Creates a server; it plugs nothing in before ``run()``.
    ///
    /// - Parameters:
    ///   - key: The key to plug in.
    ///   - faults: The faults to inject on FIDO HID.
    ///   - cancellation: Ends ``run()``.
    ///   - report: Called for each event, on the thread of ``run()``.
    public init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void = { _ in }
    ) {
        self.init(key, faults: faults, cancellation: cancellation, report: report) {
            KernelFile.opened(UHIDDevice.path)
        }
    }

    /// Creates a server on a file returned by `open`.
    package init(
        _ key: VirtualKey, faults: FaultPlan = FaultPlan(), cancellation: Cancellation,
        report: @escaping (ServedKeyEvent) -> Void, open: @escaping () -> (descriptor: Int32, errno: Int32)
    ) {
        served = ServedKey(key: key, faults: faults, cancellation: cancellation, report: report)
        self.open = open
    }

    /// Serves until it is cancelled or a fault permanently removes the key; blocks the thread.
    ///
    /// - Throws: `missing`, `denied` or `failed` if the device cannot be created, `gone` if the kernel removes it.
    public func run() throws(UHIDError) {
        try served.run { fido throws(UHIDError) in
            try session(&fido)
            return fido.absence
        }
    }

    /// Serves the key from plugging in to unplugging.
    private func session(_ fido: inout FIDOInterface) throws(UHIDError) {
        let device = UHIDDevice(served.cancellation, open: open) { [served] event in
            switch event {
            case .inserted(let node): served.report(.inserted(node: node))
            case .removed: served.report(.removed)
            }
        }
        try device.serve(&fido, as: HIDDescription(served.key.state)) { [served] fido in
            if served.key.takeRestart() { fido.device.leave(.until(.milliseconds(300))) }
        }
    }
}

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

/// The pace of reports to the host: the kernel keeps 64 that a program has not read, and drops all others without an
/// error, so that a long message leaves after its first reports no faster than a slow program reads.
package struct ReportPace {
    /// How many reports are sent without a pause.
    package static let burst = 32
    /// The time between later ones; a key on the USB needs at least a millisecond for each.
    package static let interval = Duration.milliseconds(2)

    private var left = burst
    private var since: ContinuousClock.Instant

    /// Begins with a full burst.
    package init(at now: ContinuousClock.Instant) { since = now }

    /// Counts a report that is sent; returns whether it may be.
    package mutating func takes(at now: ContinuousClock.Instant) -> Bool {
        while left < Self.burst, since.duration(to: now) >= Self.interval {
            left += 1
            since += Self.interval
        }
        if left == Self.burst { since = now }
        guard left > 0 else { return false }
        left -= 1
        return true
    }

    /// Allows a full burst: the host has sent a report, which it does once it has read the answer before.
    package mutating func refill() { left = Self.burst }

    /// The time until the next report may be sent.
    package func pause(at now: ContinuousClock.Instant) -> Duration {
        left > 0 ? .zero : max(.zero, Self.interval - since.duration(to: now))
    }
}
