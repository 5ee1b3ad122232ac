// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why no key was selected, or the selected one could not be reached.
public enum KeyError: Error, Hashable, Sendable {
    /// No key is attached; with the interface that was searched, and other findings.
    case none(KeyInterface, KeySearch)
    /// No attached key has this serial number; with the attached keys.
    case notFound(serial: String, KeyInterface, [KeyCandidate])
    /// Several keys match the selection; with the candidates.
    case several(KeyInterface, [KeyCandidate])
    /// The key at this path is a HID device, and a card is required.
    case noCard(path: String)
    /// The selection requires HID, and a card is required.
    case cardRequired
    /// Selecting a key by touch requires HID, and only a card is attached.
    case touchRequiresHID
    /// A different key was inserted than the one that was removed; nothing was sent to it.
    case differentKey
    /// The recording is of a different kind of link from the one that the operation requires.
    case recordedLink(String)
    /// A FIDO link could not be opened.
    case fido(FIDOLinkError)
    /// The machine, a reader or a key failed: `busy` names the programs that hold it, `cancelled` and `timedOut` end a
    /// wait.
    case link(LinkError)

    /// The underlying link failure, if any.
    public var link: LinkError? { LinkError(causing: self) }
}

extension KeyError: CardCaused {
    /// The failure of the card or link, for ``link(_:)`` and ``fido(_:)``.
    public var cardCause: CardError? {
        switch self {
        case .link(let error): .link(error)
        case .fido(let error): error.cardCause
        default: nil
        }
    }
}

/// An interface over which keys are found.
public enum KeyInterface: Sendable, Hashable {
    /// A reader of the smart card service.
    case reader
    /// A USB card reader, without the smart card service.
    case usbReader
    /// A FIDO authenticator over HID.
    case fido
    /// The OTP application behind a HID keyboard.
    case keyboard
    /// Any interface.
    case any
}

/// Other findings of a search without a result.
public enum KeySearch: Sendable, Hashable {
    /// Nothing else was found.
    case complete
    /// There is no card reader.
    case noReaders
    /// There are this many readers, all empty.
    case emptyReaders(Int)
    /// The smart card service failed.
    case serviceFailed(LinkError)
}

/// A key that matches a selection.
public struct KeyCandidate: Sendable, Hashable {
    /// How it was found.
    public var interface: KeyInterface
    /// The name of a reader, a USB port, or a node.
    public var location: String
    /// The name, if known.
    public var name: String?
    /// The serial number, if known.
    public var serial: String?
    /// Whether this user may open it.
    public var isAccessible: Bool

    /// Creates a candidate.
    public init(
        _ interface: KeyInterface, at location: String, name: String? = nil, serial: String? = nil,
        isAccessible: Bool = true
    ) {
        self.interface = interface
        self.location = location
        self.name = name
        self.serial = serial
        self.isAccessible = isAccessible
    }
}

extension KeyCandidate: CustomStringConvertible {
    /// Name, serial number and place.
    public var description: String {
        [name, serial, "(\(location))"].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: " ")
    }
}

extension KeyError: CustomStringConvertible {
    /// What happened, for programmers.
    public var description: String {
        switch self {
        case .none(_, .serviceFailed(let error)): "no key found; the smart card service failed: \(error)"
        case .none: "no key found"
        case .notFound(let serial, _, let attached):
            "no key with serial number \(serial)" + (attached.isEmpty ? "" : "; attached: \(Self.list(attached))")
        case .several(_, let candidates): "several keys: \(Self.list(candidates))"
        case .noCard(let path): "\(path) is a HID device, and a card is required"
        case .cardRequired: "the selection requires HID, and a card is required"
        case .touchRequiresHID: "a selection by touch requires HID"
        case .differentKey: "a different key was inserted"
        case .recordedLink(let link): "the recording is of \(link)"
        case .fido(let error): "\(error)"
        case .link(let error): "\(error)"
        }
    }

    private static func list(_ keys: [KeyCandidate]) -> String {
        keys.map(\.description).joined(separator: ", ")
    }
}

extension KeyError {
    /// Whether no key was found, or the service that finds one is missing.
    package static func isAbsence(ofKey error: any Error) -> Bool {
        switch error {
        case KeyError.none, KeyError.notFound: return true
        default: break
        }
        return switch LinkError(causing: error) {
        case .serviceNotInstalled, .serviceNotRunning, .usbLibraryNotInstalled, .unknownReader, .noDevice, .noCard,
            .noReader:
            true
        default: false
        }
    }

    /// Whether an error from opening an application means that the key does not have it.
    package static func isAbsence(ofApplication error: any Error) -> Bool {
        if case .appletMissing? = CardError(causing: error) { return true }
        switch error {
        case KeyError.noCard, KeyError.cardRequired, KeyError.none: return true
        default: return false
        }
    }
}
