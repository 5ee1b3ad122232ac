// SPDX-License-Identifier: Apache-2.0

import YKCapture
import YKFIDO
import YKHardware
import YKTransport
import YKVirtualKey

extension World {
    /// The way to the FIDO application of the key that is meant.
    enum FIDOWay: Hashable {
        /// As a HID device: the recorded one, the software key's, or the node at this path.
        case reports(path: String?)
        /// As a smart card.
        case card
    }

    /// Finds the way: what the options say, else the one HID device that is attached, else the one card.
    func fidoWay() throws -> FIDOWay {
        if let replay { return replay.capture.header.link == .hid ? .reports(path: nil) : .card }
        if selection.link == .pcsc || selection.link == .usb || selection.reader != nil { return .card }
        if let software {
            let model = software.state.profile.model
            return model.isCard || model.isContactCard ? .card : .reports(path: nil)
        }
        if let path = touchedPath ?? selection.path { return try fidoWay(at: path) }
        let found = HIDNode.attached(environment, asking: selection.device != nil)
        let wanted = found.filter { selection.device == nil || $0.serial == selection.device }
        if let only = wanted.first, wanted.count == 1 { return .reports(path: only.device.path) }
        if wanted.isEmpty, selection.link == .auto, hasCard { return .card }
        guard wanted.isEmpty else { throw Self.several(HIDNode.attached(environment, asking: true)) }
        throw found.isEmpty
            ? noKey()
            : Explanation(
                "no-such-device", .noDevice,
                "no key with serial number \((selection.device ?? "").printable) is attached",
                hint: "ykit list", candidates: found.map(\.line))
    }

    /// Whether there is a reader with a card in it, or a free one on the USB.
    private var hasCard: Bool {
        (try? readers().contains(where: \.hasCard)) ?? false || !Self.readers(isFree: true).isEmpty
    }

    /// The way to the key at a node, or in a USB port.
    private func fidoWay(at path: String) throws -> FIDOWay {
        guard !path.hasPrefix("/dev/hidraw") else { return .reports(path: path) }
        let found = try Discovery.keys(asking: false).keys
        guard let key = found.first(where: { $0.isAt(path) }) else { return .reports(path: path) }
        return key.fido.map { .reports(path: $0.path) } ?? .card
    }

    private static func several(_ nodes: [HIDNode]) -> Explanation {
        Explanation(
            "several-devices", .severalDevices, "\(nodes.count) keys are attached, choose one",
            hint: "--path PATH or --device SERIAL; or by a touch: ykit --path \"$(ykit fido2 select)\" …",
            candidates: nodes.map(\.line))
    }

    /// That nothing was found, and where it was looked for.
    private func noKey() -> Explanation {
        let hint = "insert one, or try without: ykit --virtual fido2 info"
        if selection.link == .hid {
            return Explanation("no-device", .noDevice, "no FIDO key among the HID devices of this machine", hint: hint)
        }
        let cards: String
        do {
            let readers = try readers()
            cards = readers.isEmpty ? "there is no card reader" : "no card is in any of \(readers.count) readers"
        } catch {
            cards = Explain.link(error).message
        }
        return Explanation(
            "no-device", .noDevice, "no key is attached: no FIDO key among the HID devices, and \(cards)", hint: hint)
    }
}
