// SPDX-License-Identifier: Apache-2.0

import YKVirtualKey

/// A full-speed USB device: a list of interfaces, and the answers on endpoint 0 (USB 2.0 §9.4).
struct VirtualUSBDevice {
    var interfaces: [any USBInterface]
    private let key: VirtualKeyState
    private var configuration: UInt8 = 0

    init(_ key: VirtualKeyState, _ interfaces: [any USBInterface]) {
        self.key = key
        self.interfaces = interfaces
    }

    /// Answers a control transfer; `nil` stalls it.
    mutating func control(_ request: USBRequest, _ data: [UInt8]) -> [UInt8]? {
        let index = Int(request.index & 0xFF)
        if request.isForInterface, interfaces.indices.contains(index) {
            if let answer = interfaces[index].control(request, data) { return cut(answer, request) }
            guard !request.isOfClass, request.request != 0x06 else { return nil }
        } else if request.isForInterface {
            return nil
        }
        guard request.kind & 0x60 == 0 else { return nil }
        return standard(request).map { cut($0, request) }
    }

    private func cut(_ answer: [UInt8], _ request: USBRequest) -> [UInt8] { Array(answer.prefix(Int(request.length))) }

    private mutating func standard(_ request: USBRequest) -> [UInt8]? {
        switch request.request {
        case 0x00: return [0, 0]
        case 0x01 where request.kind & 0x1F == 2:
            for index in interfaces.indices { interfaces[index].clearHalt(UInt8(truncatingIfNeeded: request.index)) }
            return []
        case 0x01, 0x03, 0x05, 0x0B: return []
        case 0x06: return descriptor(UInt8(request.value >> 8), UInt8(truncatingIfNeeded: request.value))
        case 0x08: return [configuration]
        case 0x09:
            configuration = UInt8(truncatingIfNeeded: request.value)
            return []
        case 0x0A: return [0]
        default: return nil
        }
    }

    private func descriptor(_ kind: UInt8, _ number: UInt8) -> [UInt8]? {
        switch (kind, number) {
        case (1, _): return device
        case (2, 0): return configurationDescriptor
        case (3, 0): return [4, 3, 0x09, 0x04]
        case (3, 1): return USBDescriptor.string(key.usbMaker)
        case (3, 2): return USBDescriptor.string(key.usbProductName)
        default: return nil
        }
    }

    /// USB 2.0, class per interface, 64-byte packets; strings 1 and 2 are the names.
    private var device: [UInt8] {
        [18, 1, 0x00, 0x02, 0, 0, 0, 64] + USBDescriptor.word(key.profile.vendor)
            + USBDescriptor.word(key.usbProduct) + USBDescriptor.word(key.profile.release) + [1, 2, 0, 1]
    }

    /// Configuration 1, bus-powered, at most 30 mA.
    private var configurationDescriptor: [UInt8] {
        let parts = interfaces.enumerated().flatMap { $0.element.descriptors(number: UInt8($0.offset)) }
        let count = UInt8(interfaces.count)
        return [9, 2] + USBDescriptor.word(UInt16(9 + parts.count)) + [count, 1, 0, 0x80, 15] + parts
    }
}
