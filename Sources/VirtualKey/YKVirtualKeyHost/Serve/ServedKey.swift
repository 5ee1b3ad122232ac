// SPDX-License-Identifier: Apache-2.0

import YKTransport
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
