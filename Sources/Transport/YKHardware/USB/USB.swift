// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Smart cards in readers on the USB without any smart card service, through libusb-1.0.
public enum USB {
    /// Whether libusb-1.0 is on this machine; without it ``connect(_:slot:voltage:deadline:)`` throws
    /// `usbLibraryNotInstalled`, while ``devices()`` works.
    public static var isInstalled: Bool { USBLibrary.system != nil }

    /// Lists the devices with a card reader or a HID interface, also those that this user may not use; nothing is asked
    /// of them. Empty where the kernel has no USB.
    public static func devices() -> [USBDevice] { USBMachine().all() }

    /// Claims a reader for this program alone, powers the card in it and gives a link to it. A claim of another ykit is
    /// waited for until the deadline, any other for two seconds; one of pcscd not at all, as it never ends. A kernel
    /// driver that has the reader is detached until the link is closed.
    ///
    /// - Parameters:
    ///   - device: What ``devices()`` listed.
    ///   - slot: The slot of the reader, the first is 0.
    ///   - voltage: The power that the card gets; by default the reader or the lowest that works decides.
    ///
    /// Throws `usbLibraryNotInstalled`, `noDevice` when the device is gone or has no card reader, `accessDenied`, `busy`
    /// with the programs that have it, `noCard`, `unresponsive`, `timedOut` or `cancelled`.
    public static func connect(
        _ device: USBDevice, slot: UInt8 = 0, voltage: CCID.Voltage? = nil, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        let (pipe, descriptor) = try USBNode.open(device, deadline)
        let card = CCIDCard(CCIDSlot(pipe, descriptor, slot: slot), voltage: voltage)
        return try USBCardLink(card, reader: device.readerName, deadline: deadline)
    }

    /// The programs that have claimed the card reader of a device. A kernel driver is not among them, as it gives way.
    ///
    /// The kernel tells only of one's own processes who has a node open; a pcscd that runs is named where it tells
    /// nothing.
    public static func holders(of device: USBDevice) -> [LinkError.Holder] {
        guard device.reader?.driver == "usbfs" else { return [] }
        let found = Processes.holders(of: device.node)
        return found.isEmpty ? Processes.named("pcscd") : found
    }
}

extension USBDevice {
    /// What the reader is called: the device's name, or its port where it has none.
    public var readerName: String { name.isEmpty ? "USB \(usbPath)" : name }
}
