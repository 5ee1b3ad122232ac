// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKHardware
import YKKeys
import YKTransport
import YKWire

/// A row of `ykit list`.
extension AttachedKey {
    /// Its place and its description.
    package var row: [String] { [key.place.name.printable, words.filter { !$0.isEmpty }.listed()] }

    private var words: [String] {
        let identity = [details?.version ?? "", serial.map { "serial \($0.printable)" } ?? ""]
        switch key.place {
        case .usb: return [name, details == nil ? numbers : ""] + identity + interfaces
        case .node: return [name, numbers] + identity + [key.hid.first?.refusal ?? ""]
        case .reader:
            guard let reader = key.reader, reader.hasCard else { return ["no card"] }
            let who = details?.name.printable ?? Self.unnamed(on: reader, isAsked)
            return [who] + identity + [reader.contactless == nil ? "" : "NFC", reader.isInUse ? "in use" : ""]
        }
    }

    /// Describes a card that did not identify itself.
    private static func unnamed(on reader: ReaderStatus, _ isAsked: Bool) -> String {
        if reader.isMute { return "a card that does not answer" }
        if case .storage? = reader.contactless { return reader.contactless?.description ?? "" }
        return isAsked ? "a card that does not identify itself" : "a card"
    }

    private var name: String { details?.name.printable ?? key.name.printable }

    private var numbers: String { key.numbers.map { "\(Self.hex($0.vendor)):\(Self.hex($0.product))" } ?? "" }

    private var interfaces: [String] {
        var found: [String] = []
        if let reader = key.reader {
            found.append("card '\(reader.name.printable)'\(reader.isInUse ? " in use" : "")")
        } else if let device = key.usbReader {
            let holders = DirectUSB.holders(of: device).map { $0.name.printable }.listed()
            let trouble = device.access.words.map { " (\($0))" } ?? (holders.isEmpty ? "" : " (held by \(holders))")
            found.append("card \(device.node)\(trouble)")
        }
        found += hid.map { device in
            "\(device.isFIDO ? "FIDO" : "OTP") \(device.path)\(device.access.words.map { " (\($0))" } ?? "")"
        }
        return found + contactless.map { "NFC '\($0.name.printable)'" }
    }

    package static func hex(_ number: UInt16) -> String { Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)]) }
}

extension HIDDevice {
    fileprivate var refusal: String { access.words ?? "" }
}

extension HIDDevice.Access {
    /// The problem; `nil` if it is usable.
    fileprivate var words: String? {
        switch self {
        case .readable: nil
        case .denied: "no permission"
        case .missing: "no node"
        }
    }

    /// The word for programs.
    package var word: String {
        switch self {
        case .readable: "readable"
        case .denied: "denied"
        case .missing: "missing"
        }
    }
}
