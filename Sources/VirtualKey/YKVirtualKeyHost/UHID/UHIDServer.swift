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
