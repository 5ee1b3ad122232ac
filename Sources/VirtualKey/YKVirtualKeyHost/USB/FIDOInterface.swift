// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// The FIDO HID interface of a USB key: 64-byte reports on two interrupt endpoints.
struct FIDOInterface: USBInterface {
    /// The endpoint for reports from the device.
    static let input: UInt8 = 0x84

    let endpoints: [UInt8] = [0x04, input]
    private let key: VirtualKey
    private let report: (ServedKeyEvent) -> Void
    /// The CTAPHID device.
    var device: VirtualHID

    init(_ key: VirtualKey, _ device: VirtualHID, report: @escaping (ServedKeyEvent) -> Void) {
        self.key = key
        self.device = device
        self.report = report
    }

    var absence: FaultPlan.Absence? { device.absence }

    func descriptors(number: UInt8) -> [UInt8] {
        USBDescriptor.interface(number, endpoints: 2, 3)
            + USBDescriptor.hid(reportDescriptor: HIDDescription.fido.count)
            + USBDescriptor.endpoint(0x04, 3, packet: 64, interval: 2)
            + USBDescriptor.endpoint(Self.input, 3, packet: 64, interval: 2)
    }

    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]? {
        switch (request.isOfClass, request.request, request.value >> 8) {
        case (false, 0x06, 0x22): return HIDDescription.fido
        case (false, 0x06, 0x21): return USBDescriptor.hid(reportDescriptor: HIDDescription.fido.count)
        // SET_IDLE, SET_PROTOCOL (HID 1.11 §7.2).
        case (true, 0x0A, _), (true, 0x0B, _): return []
        default: return nil
        }
    }

    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant) {
        report(.written(data))
        let winks = device.winks
        device.receive(data, at: now, key.run)
        if device.winks != winks { report(.winked) }
    }

    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]? {
        guard let bytes = device.next(at: now) else { return nil }
        report(.delivered(bytes))
        return bytes
    }

    mutating func poll(at now: ContinuousClock.Instant) { device.poll(at: now, key.run) }
    func pause(at now: ContinuousClock.Instant) -> Duration? { device.pause(at: now) }
}

/// The keyboard interface of a USB key: types the output of the slots when the key is touched, and carries the OTP
/// application's frames in feature reports of eight bytes.
struct OTPInterface: USBInterface {
    let endpoints: [UInt8] = [0x81]
    private let key: VirtualKey
    private var keyboard = VirtualKeyboard()

    init(_ key: VirtualKey) { self.key = key }

    func descriptors(number: UInt8) -> [UInt8] {
        USBDescriptor.interface(number, endpoints: 1, 3, 1, 1)
            + USBDescriptor.hid(reportDescriptor: Self.reportDescriptor.count)
            + USBDescriptor.endpoint(0x81, 3, packet: 8, interval: 10)
    }

    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]? {
        switch (request.isOfClass, request.request, request.value >> 8) {
        case (false, 0x06, 0x22): return Self.reportDescriptor
        case (false, 0x06, 0x21): return USBDescriptor.hid(reportDescriptor: Self.reportDescriptor.count)
        case (true, 0x01, 0x03): return keyboard.get(key.state.otpStatus)
        case (true, 0x01, 0x01): return [UInt8](repeating: 0, count: 8)
        case (true, 0x09, 0x03): return keyboard.set(data, at: .now, key.run) ? [] : nil
        // SET_REPORT for the LEDs, SET_IDLE, SET_PROTOCOL (HID 1.11 §7.2).
        case (true, 0x09, 0x02), (true, 0x0A, _), (true, 0x0B, _): return []
        default: return nil
        }
    }

    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant) {}

    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]? { keyboard.next(at: now) }

    /// Retries a frame that waits for a touch; if there is none, a touch makes a slot type.
    mutating func poll(at now: ContinuousClock.Instant) {
        keyboard.poll(at: now, key.run)
        guard !keyboard.isWaiting, let slot = key.inputs.press() else { return }
        let (strokes, pacing) = key.strokes(slot)
        keyboard.type(strokes, pacing: pacing, at: now)
    }

    func pause(at now: ContinuousClock.Instant) -> Duration? { keyboard.pause(at: now) }

    /// A keyboard with six keys and LEDs, and a feature report of eight bytes (HID 1.11 appendix B).
    static let reportDescriptor: [UInt8] = [
        0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x05, 0x07, 0x19, 0xE0, 0x29, 0xE7, 0x15, 0x00, 0x25, 0x01, 0x75, 0x01,
        0x95,
        0x08, 0x81, 0x02, 0x95, 0x01, 0x75, 0x08, 0x81, 0x01, 0x95, 0x05, 0x75, 0x01, 0x05, 0x08, 0x19, 0x01, 0x29,
        0x05,
        0x91, 0x02, 0x95, 0x01, 0x75, 0x03, 0x91, 0x01, 0x95, 0x06, 0x75, 0x08, 0x15, 0x00, 0x25, 0x65, 0x05, 0x07,
        0x19,
        0x00, 0x29, 0x65, 0x81, 0x00, 0x09, 0x03, 0x75, 0x08, 0x95, 0x08, 0xB1, 0x02, 0xC0,
    ]
}
