// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Why no key was chosen, or the chosen one could not be reached.
public enum KeyError: Error, Hashable, Sendable {
    /// No key is attached: what was searched, and what else is known of the search.
    case none(KeyInterface, KeySearch)
    /// No attached key has this serial number; the keys that are attached.
    case notFound(serial: String, KeyInterface, [KeyCandidate])
    /// More than one key is meant; those to choose from.
    case several(KeyInterface, [KeyCandidate])
    /// The key at this path is a HID device, and a card is required.
    case noCard(path: String)
    /// The selection requires HID, and a card is required.
    case cardRequired
    /// A touch chooses among keys over HID, and only a card is attached.
    case touchRequiresHID
    /// Another key was inserted than the one that was removed; nothing was sent to it.
    case differentKey
    /// The recording is of another kind of link than the operation requires.
    case recordedLink(String)
    /// A FIDO link could not be opened.
    case fido(FIDOLinkError)
    /// The machine, a reader or a key failed: `busy` names the programs that hold it, `cancelled` and `timedOut` end a
    /// wait.
    case link(LinkError)

    /// The failure of the link at the bottom, when it was one.
    public var link: LinkError? {
        switch self {
        case .link(let error): error
        case .fido(let error): error.link
        default: nil
        }
    }
}

/// An interface by which keys are found.
public enum KeyInterface: Sendable, Hashable {
    /// A reader of the smart card service.
    case reader
    /// A card reader on the USB, without the smart card service.
    case usbReader
    /// A FIDO authenticator over HID.
    case fido
    /// The OTP application behind a HID keyboard.
    case keyboard
    /// Any of them.
    case any
}

/// What else a search without a result found out.
public enum KeySearch: Sendable, Hashable {
    /// Nothing else was searched.
    case complete
    /// There is no card reader either.
    case noReaders
    /// There are this many readers, all of them empty.
    case emptyReaders(Int)
    /// The smart card service could not be asked.
    case serviceFailed(LinkError)
}

/// A key that could have been meant.
public struct KeyCandidate: Sendable, Hashable {
    /// How it was found.
    public var interface: KeyInterface
    /// Where it is: the name of a reader, a USB port, or a node.
    public var location: String
    /// What it is called, where that is known.
    public var name: String?
    /// Its serial number, where it tells.
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
