// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKVirtualKey

/// A key that is a device of this machine, plugged in anew each time that it comes back, however that is done.
struct ServedKey {
    let key: VirtualKey
    /// What goes wrong with FIDO HID.
    let faults: FaultPlan
    let cancellation: Cancellation
    let report: (ServedKeyEvent) -> Void
    /// How long the key waits for a touch.
    var touchTime: Duration = .seconds(30)

    /// Serves until it is called off or a fault takes the key away for good. `session` goes from plugging in to pulling
    /// out, and gives how the key was taken away.
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
