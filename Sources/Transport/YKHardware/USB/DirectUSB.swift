// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Smart cards in USB readers without a smart card service, through libusb-1.0.
public enum DirectUSB {
    /// Whether libusb-1.0 is installed; without it ``connect(_:slot:voltage:deadline:)`` throws
    /// `usbLibraryNotInstalled`, while ``devices()`` works.
    public static var isInstalled: Bool { USBLibrary.system != nil }

    /// Lists the devices with a card reader or a HID interface, including those that this user may not use; nothing is
    /// sent to them. Empty when the kernel has no USB support.
    public static func devices() -> [USBDevice] { USBMachine().all() }

    /// Claims a reader exclusively, powers its card and returns a link to it. Waits until the deadline while another
    /// ykit has claimed the reader, and two seconds for other programs; does not wait for pcscd, which never releases
    /// it. A kernel driver bound to the reader is detached until the link is closed.
    ///
    /// - Parameters:
    ///   - device: A device from ``devices()``.
    ///   - slot: The slot of the reader, the first is 0.
    ///   - voltage: The supply voltage; by default chosen by the reader, or the lowest that works.
    /// - Throws: `usbLibraryNotInstalled`, `noDevice` when the device is gone or has no card reader, `accessDenied`,
    ///   `busy` with the programs that have it, `noCard`, `unresponsive`, `timedOut` or `cancelled`.
    public static func connect(
        _ device: USBDevice, slot: UInt8 = 0, voltage: CCID.Voltage? = nil, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        let (pipe, descriptor) = try USBNode.open(device, deadline)
        let card = CCIDCard(CCIDSlot(pipe, descriptor, slot: slot), voltage: voltage)
        return try USBCardLink(card, reader: device.readerName, deadline: deadline)
    }

    /// The programs that have claimed the card reader of a device. Kernel drivers are not included, since they can be
    /// detached.
    ///
    /// The kernel shows open nodes only for the user's own processes; when it shows none, a running pcscd is named.
    public static func holders(of device: USBDevice) -> [LinkError.Holder] {
        guard device.reader?.driver == "usbfs" else { return [] }
        let found = Processes.holders(of: device.node)
        return found.isEmpty ? Processes.named("pcscd") : found
    }
}

extension USBDevice {
    /// The reader's name: the device's name, or its port when it has none.
    public var readerName: String { name.isEmpty ? "USB \(usbPath)" : name }
}
