// SPDX-License-Identifier: Apache-2.0

import YKHardware
import YKManagement
import YKTransport

/// Observations about a machine and its keys; the diagnosis uses nothing else.
struct Findings {
    /// The kind of environment, and its name for this application.
    var machine: MachineKind = .plain
    var application: String?
    /// The USB devices; `nil` if the kernel does not show them.
    var usb: [USBPresence]? = []
    /// The security keys among the HID devices.
    var devices: [HIDDevice] = []
    /// The facts about HID nodes and the nodes of USB card readers, by path.
    var nodes: [String: NodeFacts] = [:]
    /// The effect of the udev rule on an inaccessible node.
    var rule: (String) -> UDevRule = { UDevRule(for: $0) }
    /// The login session.
    var login = LoginFacts()
    /// The USB card readers, by port.
    var slots: [String: Slot] = [:]
    /// Whether libusb-1.0 is installed; without it, cards are reachable only through the service.
    var hasUSBLibrary = true
    /// The readers, or why they cannot be listed.
    var readers: Result<[ReaderStatus], LinkError> = .success([])
    /// The observable state of the smart card service, its program version, and its clients.
    var service = ServiceFacts()
    var serviceVersion: String?
    var clients: [LinkError.Holder] = []
    /// Whether a time service keeps the clock right; `nil` if that cannot be found out.
    var isClockKept: Bool?
    /// The answers of the reachable keys.
    var keys: [AskedKey] = []

    /// A USB card reader, or one in a key.
    struct Slot {
        /// The node of its device, and whether this user has access.
        var node: String
        var access: HIDDevice.Access
        /// The programs that have claimed it.
        var holders: [LinkError.Holder] = []
        /// Its name in the smart card service, if listed there.
        var reader: String?
    }

    /// The USB devices that are security keys, judging by ids, names and interfaces.
    var usbKeys: [USBPresence] {
        let fido = Set(devices.compactMap(\.usbPath))
        return (usb ?? []).filter { device in
            let identity = DeviceIdentity(vendor: device.vendor, product: device.product, name: device.name)
            return identity.maker != .unknown || fido.contains(device.port)
                || device.interfaces.contains(where: \.isReader)
        }
    }
}

/// The answers of a key over one of its interfaces.
struct AskedKey {
    /// The transport.
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
    /// The applications of the card that were selected, and whether each is present.
    var applications: [(capability: Capability, isThere: Bool)] = []
    /// The retries of OpenPGP's reset code; `nil` if not reported.
    var resetCodeTries: Int?
    /// The version of a NEO's OpenPGP; `nil` if not reported.
    var openPGPVersion: Version?

    init(_ place: String, _ way: Way, _ identity: Result<DeviceIdentity, Explanation>) {
        self.place = place
        self.way = way
        self.identity = identity
    }
}
