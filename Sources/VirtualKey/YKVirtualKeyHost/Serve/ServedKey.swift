// SPDX-License-Identifier: Apache-2.0

public import YKTransport
import YKVirtualKey

/// A key served as a device of this machine, plugged in again each time it comes back, by whatever mechanism.
struct ServedKey {
    let key: VirtualKey
    /// The faults to inject on FIDO HID.
    let faults: FaultPlan
    let cancellation: Cancellation
    let report: (ServedKeyEvent) -> Void
    /// How long the key waits for a touch.
    var touchTime: Duration = .seconds(30)

    /// Serves until it is cancelled or a fault removes the key permanently. `session` lasts from plugging in to unplugging
    /// and returns how the key was removed.
    func run<Failure: Error>(
        _ session: (inout FIDOInterface) throws(Failure) -> FaultPlan.Absence?
    ) throws(Failure) {
        var hid = VirtualHID(key.state, faults: faults)
        hid.touchTime = touchTime
        var fido = FIDOInterface(key, hid, report: report)
        while !cancellation.isCancelled {
            key.plugIn()
            let absence = try session(&fido)
            key.powerOff()
            guard case .until(let back)? = absence else { return }
            fido.device = fido.device.replugged
            fido.device.setCapabilities(key.state)
            Pause.system(back, .after(back, cancellation: cancellation))
        }
    }
}

/// An event to show to the user who serves a key as a device of this machine.
public enum ServedKeyEvent: Hashable, Sendable {
    /// The key was plugged in; programs find it at this path, which is empty if it has no visible node.
    case inserted(node: String)
    /// The key was unplugged.
    case removed
    /// The host sent a FIDO report.
    case written([UInt8])
    /// The key sent a FIDO report.
    case delivered([UInt8])
    /// The host asked the key to blink.
    case winked
    /// A command APDU and its response; `nil` for no response.
    case exchange(command: [UInt8], response: [UInt8]?)
    /// The key failed.
    case failed(LinkError)
}
