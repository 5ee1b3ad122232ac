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
