// SPDX-License-Identifier: Apache-2.0

public import YKTransport
package import YKWire

extension VirtualKey {
    /// Connects a program to the key's keyboard interface as a HID device in the same process.
    public func otpReportLink() -> sending any ReportLink { VirtualKeyboardLink(self) }

    /// Executes a frame received over HID.
    package func run(_ frame: OTPFrame) -> VirtualKeyboard.Outcome {
        let change = try? change { key throws(Refusal) in try key.otp(frame.command, frame.payload, inputs) }
        return switch change {
        case .answer(let data)? where !data.isEmpty: .data(data)
        case .waiting?: .waiting
        default: .done
        }
    }

    /// The output of a touch of slot 1 or 2.
    package func strokes(_ slot: Int) -> (strokes: [OTPStroke], pacing: Duration) {
        var typed: [OTPStroke] = []
        _ = try? change { key throws(Refusal) in
            typed = try key.strokes(slot, inputs)
            return []
        }
        let flags = state.otp[slot]?.record.configuration ?? []
        let pacing = (flags.contains(.pacing10) ? 20 : 0) + (flags.contains(.pacing20) ? 40 : 0)
        return (typed, .milliseconds(pacing))
    }
}

/// A program's connection to a virtual key's keyboard.
final class VirtualKeyboardLink: ReportLink {
    private let key: VirtualKey
    private var keyboard = VirtualKeyboard()
    let identity: ReportIdentity

    init(_ key: VirtualKey) {
        self.key = key
        identity = ReportIdentity(
            path: "virtual", name: VirtualKey.readerName, vendor: key.state.profile.vendor,
            product: key.state.usbProduct)
    }

    func setFeature(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        guard keyboard.set(report, at: .now, key.run) else {
            throw .failed(code: 0, "the key does not accept this feature report")
        }
    }

    func feature(deadline: Deadline) throws(LinkError) -> [UInt8] {
        try deadline.check("a feature report of the key")
        keyboard.poll(at: .now, key.run)
        return keyboard.get(key.state.otpStatus)
    }

    func write(_ report: [UInt8], deadline: Deadline) throws(LinkError) {
        throw .failed(code: 0, "a keyboard accepts only reports for its LEDs")
    }

    func read(deadline: Deadline) throws(LinkError) -> [UInt8] {
        while true {
            if let report = keyboard.next(at: .now) { return report }
            if let slot = key.inputs.press() {
                let (strokes, pacing) = key.strokes(slot)
                keyboard.type(strokes, pacing: pacing, at: .now)
            }
            try deadline.check("a report of the keyboard")
            if keyboard.pause(at: .now) != .zero { Pause.step(deadline) }
        }
    }

    func close() {}
}
