// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
package import YKKeys
import YKTransport
import YKWire

extension KeyError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        switch self {
        case .none(let interface, let search): Self.nothing(interface, search)
        case .notFound(let serial, let interface, let candidates):
            Explanation(
                "no-such-device", .noDevice,
                "no key with serial number \(serial.printable) is \(interface == .usbReader ? "attached by USB" : "attached")",
                hint: "ykit list"
            ).among(candidates)
        case .several(let interface, let candidates):
            Explanation(
                "several-devices", .severalDevices, "\(candidates.count) keys are attached; choose one",
                hint: interface.choice
            ).among(candidates)
        case .noCard(let path):
            Explanation(
                "needs-card", .usage, "\(path.printable) is a HID device; this command requires a card",
                hint: "omit --path, or choose with --device or --reader")
        case .cardRequired:
            Explanation(
                "needs-card", .usage, "--link hid selects a HID device; this command requires a card",
                hint: "omit it, or choose with --device or --reader")
        case .touchRequiresHID:
            Explanation(
                "not-hid", .notSupported,
                "a touch can choose only among keys over HID; the only key is in a card reader",
                hint: "choose with --reader NAME or --device SERIAL; 'ykit list' shows them")
        case .differentKey:
            Explanation(
                "another-key", .policy, "another key was inserted; nothing was done to it",
                hint: "insert the one that was removed, and repeat the command")
        case .recordedLink(let link): Self.recorded(link, in: subject?.text ?? "FILE")
        case .fido(let error): error.explanation
        case .link(let error): error.explanation
        }
    }

    /// Explains that the recording uses a different transport than the verb needs.
    private static func recorded(_ link: String, in file: String) -> Explanation {
        Explanation(
            "wrong-link", .replayMismatch,
            link == "http"
                ? "the recording is of requests to a server, this command requires a key"
                : "the recording is of a \(link) link, this command requires a card",
            hint: "ykit capture show \(file)")
    }

    /// Explains that nothing was found, and where ykit looked.
    private static func nothing(_ interface: KeyInterface, _ search: KeySearch) -> Explanation {
        switch (interface, search) {
        case (.usbReader, .serviceFailed(let error)):
            var why = error.explanation
            why.message = "no key with a card interface is attached by USB, and \(why.message)"
            let remedy = why.hint.map { "\($0), for a card in a reader; otherwise " } ?? ""
            why.hint = remedy + "insert a key, or try without: ykit --virtual oath list"
            return why
        case (.usbReader, _):
            return Explanation(
                "no-device", .noDevice, "no card reader is attached by USB",
                hint: "insert a key, or try without: ykit --virtual oath list")
        case (.keyboard, _):
            return Explanation("no-device", .noDevice, "no key with an OTP keyboard is attached", hint: "ykit list")
        case (.fido, _): break
        case (.reader, _), (.any, _): return LinkError.noReader.explanation
        }
        let cards: String
        switch search {
        case .complete:
            return Explanation(
                "no-device", .noDevice, "no HID device of this machine is a FIDO key", hint: fidoHint)
        case .noReaders: cards = "there is no card reader"
        case .emptyReaders(let count): cards = "no card is in any of \(count) readers"
        case .serviceFailed(let error): cards = error.explanation.message
        }
        return Explanation(
            "no-device", .noDevice, "no key is attached: no HID device is a FIDO key, and \(cards)",
            hint: fidoHint)
    }

    private static let fidoHint = "insert one, or try without: ykit --virtual fido2 info"
}

extension KeyInterface {
    /// How to select one of several keys.
    fileprivate var choice: String {
        switch self {
        case .reader: "--device SERIAL or --reader NAME, or YKIT_DEVICE"
        case .usbReader: "--device SERIAL or --path PORT, or YKIT_DEVICE"
        case .fido: "--path PATH or --device SERIAL; or by a touch: ykit --path \"$(ykit fido2 select)\" …"
        case .keyboard, .any: "--path PATH or --device SERIAL"
        }
    }
}

extension Explanation {
    fileprivate func among(_ keys: [KeyCandidate]) -> Explanation {
        var explanation = self
        explanation.candidates = keys.map { Candidate($0.line, key: $0.facts) }
        return explanation
    }
}

extension KeyCandidate {
    /// The key for programs.
    fileprivate var facts: Candidate.Key {
        switch interface {
        case .reader: Candidate.Key(serial: serial, name: name, reader: location, transport: "pcsc")
        case .usbReader: Candidate.Key(serial: serial, name: name, path: location, transport: "usb")
        case .fido, .keyboard: Candidate.Key(serial: serial, name: name, path: location, transport: "hid")
        case .any where location.first == "/":
            Candidate.Key(serial: serial, name: name, path: location, transport: "hid")
        case .any where location.first?.isNumber == true:
            Candidate.Key(serial: serial, name: name, path: location, transport: "usb")
        case .any: Candidate.Key(serial: serial, name: name, reader: location, transport: "pcsc")
        }
    }

    /// The key on one line.
    fileprivate var line: String {
        let serial = serial.map { "serial \($0.printable)" }
        let facts: [String?]
        switch interface {
        case .reader:
            guard let name else { return "'\(location.printable)'" }
            return "'\(location.printable)' (\([name.printable, serial].compactMap(\.self).listed()))"
        case .keyboard: facts = [serial]
        case .usbReader: facts = [name?.printable, serial]
        case .fido, .any: facts = [name?.printable, serial, isAccessible ? nil : "no permission"]
        }
        let words = facts.compactMap(\.self).filter { !$0.isEmpty }
        return words.isEmpty ? location.printable : "\(location.printable) (\(words.listed()))"
    }
}

extension KeyFailure: Explained {
    package var explanation: Explanation {
        switch self {
        case .key(let error): error.explanation
        case .link(let error): error.explanation
        case .fido(let error): error.explanation
        case .management(let error): error.explanation
        }
    }
}
