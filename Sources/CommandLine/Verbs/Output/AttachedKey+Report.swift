// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHardware
package import YKKeys
import YKTransport
import YKWire

/// How a key is reached.
private enum Transport: String, CaseIterable, Reportable {
    case pcsc, hid, usb
}

/// A key or reader of `ykit list`. `transport`, `path` and `access` are those of the first usable interface; `interfaces`
/// lists all of them.
extension AttachedKey: Report {
    package static let members: [Member<AttachedKey>] = place + identity

    private static let place: [Member<AttachedKey>] = [
        Member("transport") { $0.key.reader != nil ? Transport.pcsc : $0.firstNode != nil ? .hid : .usb },
        Member("reader") { $0.reader },
        Member("atr", "in hexadecimal") { $0.key.reader.map { Hex.encode($0.atr) } },
        Member("hasCard") { $0.key.reader?.hasCard },
        Member("inUse") { $0.key.reader?.isInUse },
        Member("path", "of the first HID interface") { $0.firstNode?.path },
        Member("usb", "the port") { $0.port },
        Member("vendor", "four hexadecimal digits") { $0.key.numbers.map { hex($0.vendor) } },
        Member("product", "four hexadecimal digits") { $0.key.numbers.map { hex($0.product) } },
        Member("access", HIDDevice.Access.about) { ($0.firstNode?.access ?? $0.key.usbReader?.access)?.word },
    ]

    private static let identity: [Member<AttachedKey>] = [
        Member("name", "null for a card that was not queried") { $0.knownName },
        Member("serial") { $0.serial },
        Member("firmware") { $0.details?.version },
        Member("model", "its name in the table of known keys") { $0.key.model },
        Member("interfaces") { $0.interfaces },
    ]

    private var port: String? { if case .usb(let port) = key.place { port } else { nil } }

    private var firstNode: HIDDevice? { key.fido ?? key.otp }

    private var knownName: String? {
        if let details { return details.name }
        if case .reader = key.place { return nil }
        return key.name
    }

    private var interfaces: [AttachedInterface] {
        var found: [AttachedInterface] = []
        if let device = key.usbReader {
            let holders = DirectUSB.holders(of: device).map(\.name)
            found.append(
                AttachedInterface(
                    kind: "card", transport: "usb", path: device.node, access: device.access, holders: holders))
        }
        if let reader = key.reader {
            let kind = reader.contactless == nil ? "card" : "nfc"
            found.append(AttachedInterface(kind: kind, transport: "pcsc", reader: reader.name))
        }
        found += hid.map { device in
            AttachedInterface(
                kind: device.isFIDO ? "fido" : "otp", transport: "hid", path: device.path, access: device.access)
        }
        return found + contactless.map { AttachedInterface(kind: "nfc", transport: "pcsc", reader: $0.name) }
    }
}

/// An interface of an attached key.
private struct AttachedInterface: Report {
    let kind: String
    let transport: String
    var path: String?
    var reader: String?
    var access: HIDDevice.Access?
    var holders: [String] = []

    static let members: [Member<AttachedInterface>] = [
        Member("kind", "card, fido, otp or nfc") { $0.kind },
        Member("transport", "pcsc, hid or usb") { $0.transport },
        Member("path", "of hid and usb") { $0.path },
        Member("reader", "of pcsc") { $0.reader },
        Member("access", HIDDevice.Access.about) { $0.access?.word },
        Member("heldBy", "the programs that have claimed a card reader") { $0.holders },
    ]
}

extension HIDDevice.Access {
    fileprivate static let about = "readable; denied: no udev rule gives it to this user; missing: there is no node"
}

/// A row of `ykit list`.
extension AttachedKey {
    /// Its place and its description.
    package var row: [String] { [key.place.name.printable, words.filter { !$0.isEmpty }.listed()] }

    private var words: [String] {
        let identity = [details?.version ?? "", serial.map { "serial \($0.printable)" } ?? ""]
        switch key.place {
        case .usb: return [name, details == nil ? numbers : ""] + identity + places
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

    private var places: [String] {
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
