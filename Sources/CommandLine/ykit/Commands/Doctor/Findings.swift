// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// What was seen of a machine and its keys; the ladder draws its conclusions from this and nothing else.
struct Findings {
    /// The surroundings, and the name that they give to this application.
    var machine: MachineKind = .plain
    var application: String?
    /// What is on the USB; `nil` where the kernel does not show it.
    var usb: [USBPresence]? = []
    /// The security keys among the HID devices.
    var devices: [HIDDevice] = []
    /// What is known of their nodes, and of those of the USB devices with a card reader, by path.
    var nodes: [String: NodeFacts] = [:]
    /// What the udev rule has done for a node that may not be opened.
    var rule: (String) -> UDevRule = { UDevRule(for: $0) }
    /// The login session.
    var login = LoginFacts()
    /// The card readers on the USB, by port.
    var slots: [String: Slot] = [:]
    /// Whether libusb-1.0 is here, without which no card is reached but through the service.
    var hasUSBLibrary = true
    /// The readers, or why there are none to be had.
    var readers: Result<[ReaderStatus], LinkError> = .success([])
    /// The smart card service as seen from outside, the version of its program, and who is connected to it.
    var service = ServiceFacts()
    var serviceVersion: String?
    var clients: [LinkError.Holder] = []
    /// What the keys said that could be asked.
    var keys: [AskedKey] = []

    /// A card reader on the USB, or in a key.
    struct Slot {
        /// The node of its device, and whether this user may use it.
        var node: String
        var access: HIDDevice.Access
        /// Who has claimed it.
        var holders: [LinkError.Holder] = []
        /// The name that the smart card service has for it, where it knows it.
        var reader: String?
    }

    /// The devices on the bus that are security keys, as far as numbers, names and interfaces tell.
    var usbKeys: [USBPresence] {
        let fido = Set(devices.compactMap(\.usbPath))
        return (usb ?? []).filter { device in
            let identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
            return identity.maker != .unknown || fido.contains(device.port)
                || device.interfaces.contains(where: \.isReader)
        }
    }
}

/// What a key said over one of its interfaces.
struct AskedKey {
    /// The way to it.
    enum Way: String {
        case card = "the smart card"
        case direct = "the smart card, without pcscd"
        case fido = "FIDO"
        case otp = "OTP"
        case virtual = "software"
    }

    /// The reader or node.
    var place: String
    var way: Way
    var identity: Result<DeviceIdentity, Explanation>
    /// The applications of the card that were selected, and whether they are there.
    var applications: [(capability: Capability, isThere: Bool)] = []
    /// How many tries OpenPGP's reset code has; `nil` where that was not told.
    var resetCodeTries: Int?
    /// The version of a NEO's OpenPGP; `nil` where that was not told.
    var openPGPVersion: Version?

    init(_ place: String, _ way: Way, _ identity: Result<DeviceIdentity, Explanation>) {
        self.place = place
        self.way = way
        self.identity = identity
    }
}
