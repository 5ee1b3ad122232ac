// SPDX-License-Identifier: Apache-2.0

import YKCapture
public import YKHardware
public import YKTransport
import YKVirtualKey

/// A key with all its interfaces, or a reader and what is in it.
public struct AttachedKey: Sendable, Hashable {
    /// The interfaces.
    public var key: SecurityKey
    /// Whether the key was asked what it is, where its USB descriptor does not tell.
    public var isAsked: Bool
    /// What the key told.
    public var details: KeyDetails?
    /// The contactless readers that the same key lies on.
    public var contactless: [ReaderStatus] = []

    /// Creates an entry.
    public init(_ key: SecurityKey, isAsked: Bool = false, details: KeyDetails? = nil) {
        self.key = key
        self.isAsked = isAsked
        self.details = details
    }

    /// The name of the reader, where there is one.
    public var reader: String? { key.reader?.name ?? key.usbReader?.readerName }
    /// The serial number, as far as the key tells.
    public var serial: String? { details?.serial ?? key.serial }
    /// The HID interfaces, FIDO first.
    public var hid: [HIDDevice] { key.hid.filter(\.isFIDO) + key.hid.filter { !$0.isFIDO } }

    /// One entry for a key that is in a port and lies on a reader at the same time: name and serial number are equal.
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

/// What is attached.
public struct AttachedKeys: Sendable, Hashable {
    /// The keys and readers, each once.
    public var keys: [AttachedKey]
    /// Why the smart card service could not be asked, where a card may be missing from the list for it.
    public var serviceTrouble: LinkError?
}

extension Keys {
    /// Lists the keys and readers that are attached, or the one that plays them; the selection is not applied.
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
            // A USB descriptor with a serial number says all there is to know, but Yubico's has none.
            let mustAsk = isAsked && (key.serial == nil || key.numbers?.vendor == 0x1050)
            return AttachedKey(key, isAsked: isAsked, details: mustAsk ? details(of: key) : nil)
        }
        return AttachedKeys(keys: AttachedKey.merged(listed), serviceTrouble: found.missedService)
    }
}

extension Discovery.Findings {
    /// The trouble of the smart card service that matters: keys on the USB need none, and one that is not installed or not
    /// running is not missed.
    fileprivate var missedService: LinkError? {
        guard let serviceTrouble, !serviceTrouble.isServiceMissing, !keys.contains(where: { $0.usbReader != nil })
        else { return nil }
        return serviceTrouble
    }
}
