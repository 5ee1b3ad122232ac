// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why bytes did not get to a key, or an answer did not come back.
public enum LinkError: Error, Hashable, Sendable {
    /// The smart card library (libpcsclite) or service (pcscd) is not on this machine.
    case serviceNotInstalled
    /// The USB library (libusb-1.0) is not on this machine, without which no reader is used but through pcscd.
    case usbLibraryNotInstalled
    /// The smart card service (pcscd) does not answer.
    case serviceNotRunning
    /// This user or process may not use the smart card service, the card, or the device.
    case accessDenied(Refusal)
    /// The client library and the smart card service speak different versions.
    case serviceMismatch
    /// No reader, and no key, is attached.
    case noReader
    /// A reader of that name is not there.
    case unknownReader(String)
    /// No HID device is at that path.
    case noDevice(path: String)
    /// The reader has no card in it.
    case noCard(reader: String)
    /// Another program has the card, or the HID device at that path, for itself.
    case busy(reader: String, holders: [Holder])
    /// The card or key was taken away.
    case removed
    /// Another program reset the card: what was selected and unlocked is lost.
    case reset
    /// The time for the named step was over.
    case timedOut(String)
    /// Somebody called it off.
    case cancelled
    /// The service was closed before.
    case closed
    /// The card does not answer to power, or the reader cannot talk to it.
    case unresponsive(String)
    /// What came back is not a response.
    case malformed(WireError)
    /// The recorded session has something else here.
    case replay(ReplayMismatch)
    /// The capture file could not be read or written.
    case capture(String)
    /// Anything else, with the code of the layer below.
    case failed(code: UInt32, String)

    /// What was refused, and so which rule has to allow it.
    public enum Refusal: Hashable, Sendable {
        /// The use of the smart card service (polkit action `org.debian.pcsc-lite.access_pcsc`).
        case service
        /// The use of the card in this reader (polkit action `org.debian.pcsc-lite.access_card`).
        case card(reader: String)
        /// The service's socket, by its file permissions.
        case socket(path: String)
        /// A HID device, by the permissions of its node (udev rule).
        case device(path: String)
    }

    /// A process that has a reader or a device open.
    public struct Holder: Hashable, Sendable {
        /// The process id.
        public let pid: Int32
        /// The program's name.
        public let name: String

        /// Makes a holder.
        public init(pid: Int32, name: String) {
            self.pid = pid
            self.name = name
        }
    }
}
