// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKTransport

extension World {
    /// The way to the card that is meant.
    enum CardWay {
        /// A reader of the smart card service.
        case reader(String)
        /// A reader on the USB, without the service.
        case usb(USBDevice)

        /// What to call it.
        var name: String {
            switch self {
            case .reader(let name): name
            case .usb(let device): device.usbPath
            }
        }
    }

    /// Finds the way: what the options say; else the smart card service, and the USB where that has no reader.
    func cardWay() throws -> CardWay {
        if let path = selection.path { return try cardWay(at: path) }
        switch selection.link {
        case .pcsc: return .reader(try chosenReader())
        case .usb: return .usb(try chosenDevice(of: Self.readers(isFree: false)))
        case .auto, .hid: break
        }
        do { return .reader(try chosenReader()) } catch {
            guard selection.reader == nil, Self.leavesOtherWays(error) else { throw error }
            let devices = Self.readers(isFree: !Self.isServiceMissing(error))
            guard !devices.isEmpty else {
                throw Self.isServiceMissing(error) ? Explain.nowhere("key with a card", error) : error
            }
            do { return .usb(try chosenDevice(of: devices)) } catch let other as Explanation
                where other.code == "no-such-device"
            {
                throw error
            }
        }
    }

    /// Opens it.
    func openCard() throws -> sending any CardLink {
        switch try cardWay() {
        case .reader(let name): try PCSC.connect(reader: name, deadline: environment.deadline())
        case .usb(let device): try USB.connect(device, deadline: environment.deadline())
        }
    }

    /// Whether the smart card service has nothing to say of the key: it is not there, knows no reader, or no card.
    private static func leavesOtherWays(_ error: any Error) -> Bool {
        if let explanation = error as? Explanation { return explanation.code == "no-such-device" }
        switch error as? LinkError {
        case .serviceNotInstalled, .serviceNotRunning, .serviceMismatch, .noReader, .noCard: return true
        default: return false
        }
    }

    /// Whether there is no smart card service to ask.
    static func isServiceMissing(_ error: any Error) -> Bool {
        switch error as? LinkError {
        case .serviceNotInstalled, .serviceNotRunning: true
        default: false
        }
    }

    /// The readers on the USB, or those that no program has claimed: a service that runs has claimed its own.
    static func readers(isFree: Bool) -> [USBDevice] {
        USB.devices().filter { $0.reader.map { !isFree || $0.driver == nil } ?? false }
    }

    private func cardWay(at path: String) throws -> CardWay {
        let isDirect = selection.link == .usb
        let found = try Discovery.keys(asking: !isDirect, cancellation: environment.cancellation).keys
        guard let key = found.first(where: { $0.isAt(path) }) else { throw LinkError.noDevice(path: path) }
        if let reader = key.reader, !isDirect { return .reader(reader.name) }
        if let device = key.usbReader { return .usb(device) }
        throw Explanation(
            "needs-card", .usage, "\(path.printable) is a HID device, this verb needs a card",
            hint: "leave --path away, or choose with --device or --reader")
    }

    // MARK: on the USB

    /// The reader on the USB with the key that is meant; several are told apart by name or serial number.
    private func chosenDevice(of all: [USBDevice]) throws -> USBDevice {
        guard !all.isEmpty else {
            throw Explanation(
                "no-device", .noDevice, "no card reader is on the USB",
                hint: "insert a key, or try without: ykit --virtual oath list")
        }
        let found = all.filter { device in
            selection.reader.map { device.readerName.mentions($0) } ?? true
        }
        if let reader = selection.reader, found.isEmpty { throw LinkError.unknownReader(reader) }
        if selection.device == nil, found.count == 1, let only = found.first { return only }
        let told = found.map { (device: $0, serial: serial(of: $0)) }
        let wanted = told.filter { selection.device == nil || $0.serial == selection.device }
        if let only = wanted.first, wanted.count == 1 { return only.device }
        let lines = told.map {
            "\($0.device.usbPath) (\($0.device.readerName.printable)\($0.serial.map { ", serial \($0)" } ?? ""))"
        }
        if let serial = selection.device, wanted.isEmpty {
            throw Explanation(
                "no-such-device", .noDevice, "no key with serial number \(serial.printable) is on the USB",
                hint: "ykit list", candidates: lines)
        }
        throw Explanation(
            "several-devices", .severalDevices, "\(wanted.count) keys are attached, choose one",
            hint: "--device SERIAL or --path PORT, or YKIT_DEVICE", candidates: lines)
    }

    /// The serial number of a key on the USB: its descriptor's, else what the key says over the cheapest interface.
    private func serial(of device: USBDevice) -> String? {
        if let serial = device.serial { return serial }
        let hid = ((try? HIDRaw.devices()) ?? []).filter { $0.usbPath == device.usbPath }
        return details(of: SecurityKey(place: .usb(device.usbPath), usb: device, hid: hid))?.serial
    }
}
