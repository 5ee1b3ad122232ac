// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

/// One line of a list: a key with all its interfaces, or a reader and what is in it.
struct ListedKey {
    var key: SecurityKey
    var isAsked: Bool
    var details: KeyDetails?
    /// The readers without contacts on which the same key lies.
    var contactless: [ReaderStatus] = []

    init(_ key: SecurityKey, isAsked: Bool = false, details: KeyDetails? = nil) {
        self.key = key
        self.isAsked = isAsked
        self.details = details
    }

    /// The name of the reader, where there is one.
    var reader: String? { key.reader?.name ?? key.usbReader?.readerName }
    /// The serial number, as far as the key says it.
    var serial: String? { details?.serial ?? key.serial }

    /// One entry for a key that is in a port and lies on a reader at the same time: name and serial number are the same.
    static func merged(_ keys: [ListedKey]) -> [ListedKey] {
        var result: [ListedKey] = []
        for one in keys {
            let same = result.firstIndex { $0.details?.serial != nil && $0.details == one.details && $0.key.usb != nil }
            if let same, one.key.usb == nil, let reader = one.key.reader {
                result[same].contactless.append(reader)
            } else {
                result.append(one)
            }
        }
        return result
    }

    // MARK: for people

    /// Where it is, and what it is.
    var row: [String] { [key.place.name.printable, words.filter { !$0.isEmpty }.joined(separator: ", ")] }

    private var words: [String] {
        let told = [details?.version ?? "", serial.map { "serial \($0.printable)" } ?? ""]
        switch key.place {
        case .usb: return [name, details == nil ? numbers : ""] + told + interfaces
        case .node: return [name, numbers] + told + [key.hid.first?.refusal ?? ""]
        case .reader:
            guard let reader = key.reader, reader.hasCard else { return ["no card"] }
            let who = details?.name.printable ?? Self.stranger(on: reader, isAsked)
            return [who] + told + [reader.contactless == nil ? "" : "NFC", reader.isInUse ? "in use" : ""]
        }
    }

    /// What a card is that has not said who it is.
    private static func stranger(on reader: ReaderStatus, _ isAsked: Bool) -> String {
        if reader.isMute { return "a card that does not answer" }
        if case .storage? = reader.contactless { return reader.contactless?.description ?? "" }
        return isAsked ? "a card that does not say who it is" : "a card"
    }

    /// FIDO first.
    var hid: [HIDDevice] { key.hid.filter(\.isFIDO) + key.hid.filter { !$0.isFIDO } }

    private var name: String { details?.name.printable ?? key.name.printable }

    private var numbers: String { key.numbers.map { "\(Self.hex($0.vendor)):\(Self.hex($0.product))" } ?? "" }

    private var interfaces: [String] {
        var found: [String] = []
        if let reader = key.reader {
            found.append("card '\(reader.name.printable)'\(reader.isInUse ? " in use" : "")")
        } else if let device = key.usbReader {
            let holders = USB.holders(of: device).map { $0.name.printable }.joined(separator: ", ")
            let trouble = device.access.words.map { " (\($0))" } ?? (holders.isEmpty ? "" : " (held by \(holders))")
            found.append("card \(device.node)\(trouble)")
        }
        found += hid.map { device in
            "\(device.isFIDO ? "FIDO" : "OTP") \(device.path)\(device.access.words.map { " (\($0))" } ?? "")"
        }
        return found + contactless.map { "NFC '\($0.name.printable)'" }
    }

    static func hex(_ number: UInt16) -> String { Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)]) }
}

extension HIDDevice {
    fileprivate var refusal: String { access.words ?? "" }
}

extension HIDDevice.Access {
    /// What is wrong; nothing when it may be used.
    fileprivate var words: String? {
        switch self {
        case .readable: nil
        case .denied: "no permission"
        case .missing: "no node"
        }
    }

    /// The word for programs.
    var word: String {
        switch self {
        case .readable: "readable"
        case .denied: "denied"
        case .missing: "missing"
        }
    }
}
