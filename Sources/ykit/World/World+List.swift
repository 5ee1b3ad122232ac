// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport
import YKWire

extension World {
    /// What there is to work with: the software key or the recording, else the readers and the HID keys of this machine;
    /// and what went less than well.
    func attachedKeys(asking isAsked: Bool) async throws -> ([ListedKey], warnings: [String]) {
        if options.virtual != nil || options.replay != nil {
            let channel = try connect()
            let identity = channel.identity
            let details = isAsked ? KeyDetails(channel) : nil
            let card = ListedCard(reader: identity.reader, atr: identity.atr, hasCard: true, details: details)
            return ([.card(card)], [])
        }
        let devices = try HIDRaw.devices().filter(\.isFIDO).map(ListedKey.device)
        do { return (try cards(asking: isAsked) + devices, []) } catch let error as LinkError where error != .cancelled
        {
            // There is another way to a key.
            guard !devices.isEmpty else { throw error }
            let why = Explain.link(error)
            return (devices, [[why.message, why.hint].compactMap(\.self).joined(separator: "; ")])
        }
    }

    private func cards(asking isAsked: Bool) throws -> [ListedKey] {
        try readers().map { reader in
            let details = isAsked && reader.hasCard ? try? self.details(of: reader.name) : nil
            return .card(
                ListedCard(
                    reader: reader.name, atr: reader.atr, hasCard: reader.hasCard, isInUse: reader.isInUse,
                    details: details))
        }
    }
}

/// One line of a list: a reader and what is in it, or a FIDO key as a HID device.
enum ListedKey {
    case card(ListedCard)
    case device(HIDDevice)

    /// The name of the reader, where it is one.
    var reader: String? { if case .card(let card) = self { card.reader } else { nil } }

    var serial: String? {
        switch self {
        case .card(let card): card.details?.serial
        case .device(let device): device.serial
        }
    }

    var row: [String] {
        switch self {
        case .card(let card): card.row
        case .device(let device): device.row
        }
    }

    /// The same members for both, what a thing does not have is null.
    var json: JSON {
        var members: JSON = [
            "link": "pcsc", "reader": nil, "atr": nil, "hasCard": nil, "inUse": nil, "path": nil, "usb": nil,
            "vendor": nil, "product": nil, "access": nil, "name": nil, "serial": nil, "version": nil,
        ]
        switch self {
        case .card(let card): card.describe(&members)
        case .device(let device): device.describe(&members)
        }
        return members
    }
}

/// A reader, and what is in it.
struct ListedCard {
    var reader: String
    var atr: [UInt8]
    var hasCard: Bool
    var isInUse = false
    var isAsked = true
    var details: KeyDetails?

    fileprivate var row: [String] {
        guard hasCard else { return [reader.printable, "no card"] }
        let name = details?.name.printable ?? (isAsked ? "a card that does not say who it is" : "a card")
        let serial = details?.serial.map { "serial \($0.printable)" } ?? ""
        let words = [name, details?.version ?? "", serial, isInUse ? "in use" : ""]
        return [reader.printable, words.filter { !$0.isEmpty }.joined(separator: ", ")]
    }

    fileprivate func describe(_ json: inout JSON) {
        json.set([
            "reader": .string(reader), "atr": .string(Hex.encode(atr)), "hasCard": .bool(hasCard),
            "inUse": .bool(isInUse), "name": details.map { .string($0.name) } ?? .null,
            "serial": details?.serial.map(JSON.string) ?? .null,
            "version": details?.version.map(JSON.string) ?? .null,
        ])
    }
}

extension ListedCard {
    /// A card that is not asked who it is.
    init(_ status: ReaderStatus) {
        self.init(
            reader: status.name, atr: status.atr, hasCard: status.hasCard, isInUse: status.isInUse, isAsked: false)
    }
}

extension HIDDevice {
    /// Vendor and product as `1050:0407`.
    var numbers: String { "\(Self.hex(vendor)):\(Self.hex(product))" }

    private static func hex(_ number: UInt16) -> String { Hex.encode([UInt8(number >> 8), UInt8(number & 0xFF)]) }

    fileprivate var row: [String] {
        let refusal: String =
            switch access {
            case .readable: ""
            case .denied: "no permission"
            case .missing: "no node"
            }
        let words = [name.printable, numbers, serial.map { "serial \($0.printable)" } ?? "", refusal]
        return [path, words.filter { !$0.isEmpty }.joined(separator: ", ")]
    }

    fileprivate func describe(_ json: inout JSON) {
        let word: String =
            switch access {
            case .readable: "readable"
            case .denied: "denied"
            case .missing: "missing"
            }
        json.set([
            "link": "hid", "path": .string(path), "usb": usbPath.map(JSON.string) ?? .null,
            "vendor": .string(Self.hex(vendor)), "product": .string(Self.hex(product)), "access": .string(word),
            "name": .string(name), "serial": serial.map(JSON.string) ?? .null,
        ])
    }
}

extension JSON {
    fileprivate mutating func set(_ members: JSON) {
        guard var object, let members = members.object else { return }
        for member in members.members { object[member.key] = member.value }
        self = .object(object)
    }
}
