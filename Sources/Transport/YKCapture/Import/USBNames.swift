// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// A USB device's names from the descriptors in the traffic (USB 2.0 §9.6).
struct USBNames {
    private var identity: String?
    private var productIndex: UInt8 = 0
    private var strings: [UInt8: String] = [:]

    /// The product name, or else the vendor and product numbers.
    var name: String? { (productIndex == 0 ? nil : strings[productIndex]) ?? identity }

    /// Processes a descriptor of this type.
    mutating func take(_ kind: UInt8, index: UInt8, _ data: [UInt8]) {
        switch kind {
        case 1 where data.count >= 18:
            let digits = { (low: UInt8, high: UInt8) in
                let text = String(UInt16(high) << 8 | UInt16(low), radix: 16)
                return String(repeating: "0", count: 4 - text.count) + text
            }
            identity = "\(digits(data[8], data[9])):\(digits(data[10], data[11]))"
            productIndex = data[15]
        case 3 where index != 0 && data.count >= 4 && Int(data[0]) <= data.count && data[0] % 2 == 0:
            let units = stride(from: 2, to: Int(data[0]), by: 2).map { UInt16(data[$0 + 1]) << 8 | UInt16(data[$0]) }
            strings[index] = String(decoding: units, as: UTF16.self)
        default: break
        }
    }
}
