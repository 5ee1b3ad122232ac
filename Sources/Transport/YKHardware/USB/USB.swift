// SPDX-License-Identifier: Apache-2.0

public import YKTransport
public import YKWire

/// Smart cards in readers on the USB without any smart card service, through the kernel's usbdevfs nodes.
public enum USB {
    /// Lists the devices with a card reader or a HID interface, also those that this user may not use; nothing is asked
    /// of them. Empty where the kernel has no USB.
    public static func devices() -> [USBDevice] { USBMachine().all() }

    /// Claims a reader for this program alone, powers the card in it and gives a link to it. A claim of another ykit is
    /// waited for until the deadline, any other for two seconds; one of pcscd not at all, as it never ends.
    ///
    /// - Parameters:
    ///   - device: What ``devices()`` listed.
    ///   - slot: The slot of the reader, the first is 0.
    ///   - voltage: The power that the card gets; by default the reader or the lowest that works decides.
    ///
    /// Throws `noDevice` when the device is gone or has no card reader, `accessDenied`, `busy` with the programs or the
    /// kernel driver that have it, `noCard`, `unresponsive`, `timedOut` or `cancelled`.
    public static func connect(
        _ device: USBDevice, slot: UInt8 = 0, voltage: CCID.Voltage? = nil, deadline: Deadline
    ) throws(LinkError) -> sending any CardLink {
        let (pipe, descriptor) = try USBNode.open(device, deadline)
        let card = CCIDCard(CCIDSlot(pipe, descriptor, slot: slot), voltage: voltage)
        return try USBCardLink(card, reader: device.readerName, deadline: deadline)
    }

    /// Who has the card reader of a device: programs that have claimed it, or the kernel's driver as a holder with the
    /// process id 0; empty when nobody has.
    ///
    /// The kernel tells only of one's own processes who has a node open; a pcscd that runs is named where it tells
    /// nothing.
    public static func holders(of device: USBDevice) -> [LinkError.Holder] {
        guard let driver = device.reader?.driver else { return [] }
        guard driver == "usbfs" else { return [.init(pid: 0, name: "the kernel's driver \(driver)")] }
        let found = Processes.holders(of: device.node)
        return found.isEmpty ? Processes.named("pcscd") : found
    }
}

extension USBDevice {
    /// What the reader is called: the device's name, or its port where it has none.
    public var readerName: String { name.isEmpty ? "USB \(usbPath)" : name }
}
