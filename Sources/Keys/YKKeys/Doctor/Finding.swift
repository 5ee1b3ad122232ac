// SPDX-License-Identifier: Apache-2.0

public import YKHardware
public import YKManagement
public import YKTransport
import YKWire

/// What a step of a ``Diagnosis`` found, from the USB port to the key's firmware.
public struct Finding: Sendable, Hashable {
    /// A step between a port and an application.
    public enum Step: String, Sendable, Hashable, CaseIterable {
        case machine, clock, usb, interfaces, driver, several, node, permission, holder, pcscd, libusb, reader, card
        case applications, firmware, unplugged
        case switchedOff = "switched-off"
    }

    /// Whether a finding prevents a program from using a key.
    public enum Severity: Sendable, Hashable {
        /// Everything is in order.
        case good
        /// Worth knowing, but no obstacle.
        case note
        /// An obstacle.
        case problem
    }

    /// What was found.
    public enum Cause: Sendable, Hashable {
        /// The program runs in an environment that sees only some devices.
        case environment(MachineKind)
        /// Whether a time service keeps the clock right, on which one-time codes depend.
        case clock(isKept: Bool)
        /// The USB devices and the kernel's drivers.
        case bus(BusFinding)
        /// The device node at this path.
        case node(String, NodeFinding)
        /// The smart card service, or whether it can be dispensed with.
        case service(ServiceFinding)
        /// A reader of the service, and its card.
        case reader(ReaderFinding)
        /// A key, its applications and firmware.
        case key(KeyFinding)
    }

    /// The step.
    public var step: Step
    /// Whether it is an obstacle.
    public var severity: Severity
    /// What was found.
    public var cause: Cause

    /// Creates a finding.
    public init(_ step: Step, _ severity: Severity, _ cause: Cause) {
        self.step = step
        self.severity = severity
        self.cause = cause
    }
}

/// What was found on USB.
public enum BusFinding: Sendable, Hashable {
    /// The kernel shows no USB devices, and there is no key on another bus.
    case noUSB
    /// No security key is attached.
    case noKey
    /// No security key is attached, but a card may be in a reader.
    case onlyReaders
    /// This many keys are attached, so one must be selected.
    case several(Int)
    /// A key is attached, with these kinds of interfaces.
    case attached(PortedKey, [PortedKey.Interface])
    /// The kernel was told not to use the key, as USBGuard does.
    case unauthorized(PortedKey)
    /// A Yubico key shows only these interfaces.
    case fewInterfaces(PortedKey, USBInterfaces)
    /// A kernel driver has claimed the card reader, so the smart card service cannot use it.
    case readerTaken(PortedKey, driver: String)
    /// The HID interface of this name has no node.
    case noNode(PortedKey, interface: String, HIDObstacle)
}

/// A key in a USB port.
public struct PortedKey: Sendable, Hashable {
    /// A kind of interface.
    public enum Interface: String, Sendable, Hashable {
        case hid = "HID"
        case smartCard = "smart card"
        case other
    }

    /// The product.
    public var name: String
    /// The port, such as `1-2`.
    public var port: String
}

/// Why a HID interface has no node.
public enum HIDObstacle: Sendable, Hashable {
    /// No kernel driver is bound to the interface.
    case noDriver
    /// A program has detached the interface from the kernel.
    case taken
    /// No HID driver is bound to the kernel's HID device of this name.
    case noHIDDriver(String)
    /// The kernel was built without hidraw.
    case noHIDRaw
}

/// The state of a device node.
public enum NodeFinding: Sendable, Hashable {
    /// What the node is for.
    public enum Use: Sendable, Hashable {
        case fido
        case otp
        /// The card reader of a key, without the smart card service.
        case card
    }

    /// The kernel knows the device, but the node is missing.
    case missing(Use)
    /// This user may open it.
    case accessible(Use)
    /// This user may not open it; with the effect of the udev rule, the permissions if known, and, if the rule was
    /// applied, why it does not give this session access.
    case denied(Use, UDevRule, NodeFacts?, SeatAccess?)
    /// Programs have it open.
    case open([LinkError.Holder])
    /// Programs have claimed it, so that it cannot be used.
    case held([LinkError.Holder])
    /// A program holds it exclusively.
    case refused(KeyFailure)
}

/// Why a session has no access to a node that the udev rule grants to the user at this machine.
public enum SeatAccess: Sendable, Hashable {
    /// The user joined the rule's group after logging in.
    case groupPending
    /// There is no logind, so that only the group counts.
    case noLogind
    /// The program does not run in a login session.
    case noSession
    /// The session came over the network.
    case remote
    /// Another session is the active one; with its user, if there is one.
    case inactive(user: String?)
    /// The session is active: access is granted when the key is plugged in again.
    case active
}

/// The state of the smart card service.
public enum ServiceFinding: Sendable, Hashable {
    /// Whether anything depends on a service that is unavailable.
    public enum Need: Sendable, Hashable {
        /// No attached key needs it.
        case none
        /// A key or reader needs it.
        case needed
        /// All card readers can be used over USB without it, but many other programs cannot do that.
        case replaced
    }

    /// Why it is unavailable, in more detail.
    public enum Obstacle: Sendable, Hashable {
        /// The socket of the machine's service is not visible in this environment.
        case notHandedIn(socket: String, hasProgram: Bool)
        /// It is not running, and there is no systemd to start it.
        case noSystemd(hasSocket: Bool)
        /// These units are masked.
        case masked([String])
        /// systemd has no unit for it.
        case noUnit
        /// Its socket exists, but nothing answers on it.
        case silent(socket: String)
        /// It is stopped, and may not be enabled at boot.
        case stopped(isDisabled: Bool)
        /// It does not answer in time.
        case unresponsive
        /// /proc hides processes, so polkit cannot identify the caller.
        case hiddenProcesses
    }

    /// It works.
    case works(version: String?, protocolVersion: String?)
    /// It is unavailable.
    case unavailable(LinkError, Obstacle?, Need)
    /// libusb-1.0, which reaches a card without the service, is not installed.
    case noUSBLibrary
}

/// A reader of the smart card service, and its card.
public enum ReaderFinding: Sendable, Hashable {
    /// The service does not list the card reader at this port; with whether its driver is installed, if known.
    case unlisted(port: String, hasDriver: Bool?)
    /// No card is in the reader of this name.
    case empty(String)
    /// The card in this reader does not answer when powered.
    case mute(String)
    /// A program holds the card in this reader exclusively; with the programs connected to the service.
    case exclusive(String, [LinkError.Holder])
    /// There is a card; with the programs connected to the service.
    case card(ReaderStatus, [LinkError.Holder])
}

/// What a key reports about itself.
public enum KeyFinding: Sendable, Hashable {
    /// The interface over which a key was queried.
    public enum Access: Sendable, Hashable {
        /// A smart card, through the service.
        case card
        /// A smart card, without the service.
        case direct
        case fido
        case otp
        /// A virtual key or a recording.
        case virtual
    }

    /// The key at this place did not identify itself.
    case failed(place: String, Access, KeyFailure)
    /// A key answers over these interfaces.
    case answers(DeviceIdentity, [Access])
    /// Applications are enabled, but cannot be selected.
    case broken(Capability, Access)
    /// The card at this place has no known application.
    case unknownCard(place: String)
    /// The applications of the card that can be selected.
    case applications(Capability)
    /// Applications that are disabled over a transport.
    case switchedOff(Capability, DeviceInfo.Transport)
    /// A known flaw of the firmware.
    case flaw(KnownFlaw)
    /// A known flaw that affects keys with this many retries of OpenPGP's reset code left.
    case resetCodeFlaw(KnownFlaw, tries: Int)
    /// A known flaw that affects keys with an old version of OpenPGP, such as this one.
    case openPGPFlaw(KnownFlaw, FirmwareVersion)
}

/// Why a key did not answer.
public enum KeyFailure: Error, Hashable, Sendable {
    /// The key was not reached.
    case key(KeyError)
    /// The machine, a reader or the connection failed.
    case link(LinkError)
    /// The FIDO interface failed.
    case fido(FIDOLinkError)
    /// The key gave an unexpected answer.
    case management(ManagementError)

    package init(_ error: any Error) {
        self =
            switch error {
            case let error as LinkError: .link(error)
            case let error as FIDOLinkError: .fido(error)
            case let error as ManagementError: .management(error)
            case let error as KeyError: .key(error)
            default: .link(.failed(code: 0, "\(error)"))
            }
    }

    /// The underlying link failure, if any.
    public var link: LinkError? {
        switch self {
        case .key(let error): error.link
        case .link(let error): error
        case .fido(let error): error.link
        case .management(let error): LinkError(causing: error)
        }
    }

    /// Whether another program prevents the key from answering.
    public var isBusy: Bool {
        switch self {
        case .fido(.refused(.channelBusy)), .key(.fido(.refused(.channelBusy))),
            .management(.fido(.refused(.channelBusy), _)):
            true
        default:
            switch link {
            case .busy, .reset: true
            default: false
            }
        }
    }

    /// The step at which the key failed.
    var step: Finding.Step {
        if isBusy { return .holder }
        return switch link {
        case .accessDenied: .permission
        case .removed, .noReader, .unknownReader, .noDevice, .noCard, .serviceNotInstalled, .serviceNotRunning,
            .usbLibraryNotInstalled:
            .unplugged
        default: .applications
        }
    }
}
