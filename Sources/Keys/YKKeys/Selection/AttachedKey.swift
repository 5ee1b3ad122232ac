// SPDX-License-Identifier: Apache-2.0

public import YKHardware
public import YKTransport

/// A key with all its interfaces, or a reader with its card.
public struct AttachedKey: Sendable, Hashable {
    /// The interfaces.
    public var key: SecurityKey
    /// Whether the key was queried for details that its USB descriptor does not contain.
    public var isAsked: Bool
    /// The details that the key reported.
    public var details: KeyDetails?
    /// The contactless readers on which the same key lies.
    public var contactless: [ReaderStatus] = []

    /// Creates an entry.
    public init(_ key: SecurityKey, isAsked: Bool = false, details: KeyDetails? = nil) {
        self.key = key
        self.isAsked = isAsked
        self.details = details
    }

    /// The name of the reader, if there is one.
    public var reader: String? { key.reader?.name ?? key.usbReader?.readerName }
    /// The serial number, if known.
    public var serial: String? { details?.serial ?? key.serial }
    /// The HID interfaces, FIDO first.
    public var hid: [HIDDevice] { key.hid.filter(\.isFIDO) + key.hid.filter { !$0.isFIDO } }

    /// Merges a key that is plugged in and lies on a reader at the same time, recognized by equal name and serial
    /// number.
    static func merged(_ keys: [AttachedKey]) -> [AttachedKey] {
        var result: [AttachedKey] = []
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
}

extension AttachedKey: CustomStringConvertible {
    /// Name, serial number and place.
    public var description: String {
        let (name, place) = (details?.name ?? key.name, key.place.name)
        return [name, serial ?? "", name == place ? "" : "(\(place))"].filter { !$0.isEmpty }.joined(separator: " ")
    }
}

/// The keys and readers that are attached.
public struct AttachedKeys: Sendable, Hashable {
    /// The keys and readers, each listed once.
    public var keys: [AttachedKey]
    /// The failure of the smart card service, if cards may be missing from the list because of it.
    public var serviceTrouble: LinkError?
}

extension KeyRing {
    /// Lists the attached keys and readers, or their replacement; the selection is not applied.
    package func attached(asking isAsked: Bool) throws(KeyError) -> AttachedKeys {
        if replay != nil || software != nil {
            let channel = CardChannel(link: decoration.planned(try card()), environment: environment)
            let identity = channel.identity
            let status = ReaderStatus(name: identity.reader, hasCard: true, atr: identity.atr)
            let key = SecurityKey(place: .reader(identity.reader), reader: status)
            return AttachedKeys(
                keys: [AttachedKey(key, isAsked: isAsked, details: isAsked ? KeyDetails(channel) : nil)])
        }
        let found = try lifting { () throws(LinkError) in try devices(asking: true) }
        if let trouble = found.serviceTrouble, found.keys.isEmpty, !trouble.isServiceMissing { throw .link(trouble) }
        let listed = found.keys.map { key in
            // A USB descriptor with a serial number has all the details, but Yubico's has none.
            let mustAsk = isAsked && (key.serial == nil || key.numbers?.vendor == 0x1050)
            return AttachedKey(key, isAsked: isAsked, details: mustAsk ? details(of: key) : nil)
        }
        return AttachedKeys(keys: AttachedKey.merged(listed), serviceTrouble: found.missedService)
    }
}

extension Discovery.Findings {
    /// The relevant failure of the smart card service: keys on USB do not need it, and a service that is not installed
    /// or not running is ignored.
    fileprivate var missedService: LinkError? {
        guard let serviceTrouble, !serviceTrouble.isServiceMissing, !keys.contains(where: { $0.usbReader != nil })
        else { return nil }
        return serviceTrouble
    }
}
