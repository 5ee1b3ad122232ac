// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// The keyboard of a key on the USB: it types nothing, and carries the OTP application's frames in feature reports of
/// eight bytes.
struct OTPInterface: USBInterface {
    let endpoints: [UInt8] = [0x81]
    private let key: VirtualKey
    private var frame = [UInt8](repeating: 0, count: 70)
    private var outgoing: [[UInt8]] = []

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
        case (true, 0x01, 0x03): return outgoing.isEmpty ? status : outgoing.removeFirst()
        case (true, 0x01, 0x01): return [UInt8](repeating: 0, count: 8)
        case (true, 0x09, 0x03): return take(data) ? [] : nil
        // SET_REPORT of the lamps, SET_IDLE, SET_PROTOCOL (HID 1.11 §7.2).
        case (true, 0x09, 0x02), (true, 0x0A, _), (true, 0x0B, _): return []
        default: return nil
        }
    }

    mutating func receive(_ data: [UInt8], at now: ContinuousClock.Instant) {}
    mutating func next(endpoint: UInt8, at now: ContinuousClock.Instant) -> [UInt8]? { nil }

    /// Version, programming sequence 0, no slot in use; nothing is being written.
    private var status: [UInt8] { [0] + key.state.profile.version.bytes + [0, 0, 0, 0] }

    /// Seven bytes of a frame and their place in it; the tenth completes it, 8F starts anew.
    private mutating func take(_ report: [UInt8]) -> Bool {
        guard report.count == 8 else { return false }
        guard report[7] & 0x80 != 0, report[7] != 0x8F else {
            outgoing = []
            frame = [UInt8](repeating: 0, count: 70)
            return true
        }
        let place = Int(report[7] & 0x1F)
        guard place < 10 else { return false }
        frame.replaceSubrange((place * 7)..<(place * 7 + 7), with: report[..<7])
        if place == 9 { finish() }
        return true
    }

    /// Payload of 64 bytes, slot, CRC of the payload with the least significant byte first, three bytes of nothing.
    private mutating func finish() {
        defer { frame = [UInt8](repeating: 0, count: 70) }
        let payload = Array(frame[..<64])
        guard Self.crc(payload) == UInt16(frame[65]) | UInt16(frame[66]) << 8 else { return }
        let profile = key.state.profile
        switch frame[64] {
        case 0x10: respond((0..<4).map { UInt8(truncatingIfNeeded: profile.serial >> (24 - 8 * $0)) })
        case 0x13 where profile.version.major >= 4: respond(ManagementApplet.page(payload[0], profile) ?? [])
        default: break
        }
    }

    /// The answer with its CRC in reports of seven bytes, numbered and marked 40; number 0 again ends it.
    private mutating func respond(_ data: [UInt8]) {
        guard !data.isEmpty else { return }
        let crc = ~Self.crc(data)
        let bytes = data + [UInt8(truncatingIfNeeded: crc), UInt8(crc >> 8)]
        outgoing = stride(from: 0, to: bytes.count, by: 7).map { start in
            let part = bytes[start..<min(bytes.count, start + 7)]
            let number = UInt8(truncatingIfNeeded: start / 7) & 0x1F
            return part + [UInt8](repeating: 0, count: 7 - part.count) + [0x40 | number]
        }
        outgoing.append([0, 0, 0, 0, 0, 0, 0, 0x40])
    }

    /// CRC-16 with the reflected polynomial 8408 and the start FFFF.
    static func crc(_ bytes: [UInt8]) -> UInt16 {
        bytes.reduce(0xFFFF) { crc, byte in
            (0..<8).reduce(crc ^ UInt16(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x8408 }
        }
    }

    /// A keyboard of six keys with lamps, and a feature report of eight bytes (HID 1.11 appendix B).
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
