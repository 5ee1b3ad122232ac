// SPDX-License-Identifier: Apache-2.0

public import YKTransport

/// Finds the attached keys, each listed once with all its interfaces.
public enum Discovery {
    /// The result of a discovery.
    public struct Findings: Sendable, Hashable {
        /// The keys and readers.
        public var keys: [SecurityKey]
        /// The failure of the smart card service; keys that only it knows are then missing.
        public var serviceTrouble: LinkError?
    }

    /// Lists the keys on USB, other FIDO devices, and the readers of the smart card service; nothing is sent to a key.
    /// When two keys have the same name, the service is queried for the location of its readers.
    ///
    /// - Throws: `cancelled`; after any other failure only the affected keys are missing.
    public static func keys(
        asking service: Bool = true, timeout: Duration = .seconds(5), cancellation: Cancellation? = nil
    ) throws(LinkError) -> Findings {
        try keys(on: Machine(), asking: service, timeout: timeout, cancellation: cancellation)
    }

    static func keys(
        on machine: Machine, asking service: Bool, timeout: Duration, cancellation: Cancellation?
    ) throws(LinkError) -> Findings {
        let devices = machine.usb.all()
        let hid = (try? machine.hid.keys()) ?? []
        var trouble: LinkError?
        var readers: [ReaderStatus] = []
        if service {
            do { readers = try machine.readers(timeout, cancellation) } catch {
                if error == .cancelled { throw error }
                trouble = error
            }
        }
        let keys = merge(devices, hid, readers) { machine.locate($0, timeout) }
        return Findings(keys: keys, serviceTrouble: trouble)
    }

    /// Merges interfaces: those of one USB port, and the reader whose name matches exactly one of the devices; `locate`
    /// returns bus and address of a reader when names are ambiguous.
    package static func merge(
        _ devices: [USBDevice], _ hid: [HIDDevice], _ readers: [ReaderStatus],
        locate: (String) -> (bus: Int, address: Int)?
    ) -> [SecurityKey] {
        var keys = devices.filter { device in
            device.reader != nil || hid.contains { $0.usbPath == device.usbPath }
        }.map { SecurityKey(place: .usb($0.usbPath), usb: $0) }
        for device in hid {
            let place = device.usbPath.map(SecurityKey.Place.usb) ?? .node(device.path)
            if let index = keys.firstIndex(where: { $0.place == place }) {
                keys[index].hid.append(device)
            } else {
                keys.append(SecurityKey(place: place, hid: [device]))
            }
        }
        for reader in readers {
            if let index = match(reader, readers, keys, locate) {
                keys[index].reader = reader
            } else {
                keys.append(SecurityKey(place: .reader(reader.name), reader: reader))
            }
        }
        return keys
    }

    private static func match(
        _ reader: ReaderStatus, _ readers: [ReaderStatus], _ keys: [SecurityKey],
        _ locate: (String) -> (bus: Int, address: Int)?
    ) -> Int? {
        let open = keys.indices.filter { keys[$0].usbReader != nil && keys[$0].reader == nil }
        guard !open.isEmpty else { return nil }
        let named = open.filter { reader.name.isName(of: keys[$0]) }
        if named.count == 1, let only = named.first, readers.count(where: { $0.name.isName(of: keys[only]) }) == 1 {
            return only
        }
        guard let found = locate(reader.name) else { return nil }
        return open.first { keys[$0].usb?.bus == found.bus && keys[$0].usb?.address == found.address }
    }
}

extension String {
    /// Whether a reader's name, which pcscd builds from the USB device's name, belongs to a key.
    fileprivate func isName(of key: SecurityKey) -> Bool {
        guard let name = key.usb?.productName, !name.isEmpty else { return false }
        let own = lowercased()
        // The rest is the interface in brackets, the serial number in parentheses, and two numbers of two digits; a
        // longer product name belongs to another product: "Solo 2" is not "Solo".
        let isWhole = own.ranges(of: name.lowercased()).contains { range in
            let rest = own[range.upperBound...].drop { $0 == " " }
            return rest.first == "[" || rest.first == "(" || rest.utf8.count <= 5
        }
        return isWhole && (key.usb?.manufacturer.map { own.contains($0.lowercased()) } ?? true)
    }
}
