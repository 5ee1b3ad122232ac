// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Why bytes did not reach a key, or a response was not received.
public enum LinkError: Error, Hashable, Sendable {
    /// The smart card library (libpcsclite) or service (pcscd) is not installed.
    case serviceNotInstalled
    /// The USB library (libusb-1.0), which is required to use a reader without pcscd, is not installed.
    case usbLibraryNotInstalled
    /// The smart card service (pcscd) does not respond.
    case serviceNotRunning
    /// This user or process may not use the smart card service, the card, or the device.
    case accessDenied(Refusal)
    /// The client library and the smart card service speak different versions.
    case serviceMismatch
    /// No reader and no key is attached.
    case noReader
    /// There is no reader of that name.
    case unknownReader(String)
    /// There is no HID device at that path.
    case noDevice(path: String)
    /// There is no card in the reader.
    case noCard(reader: String)
    /// Another program has exclusive use of the card, or of the HID device at that path.
    case busy(reader: String, holders: [Holder])
    /// The card or key was removed.
    case removed
    /// Another program reset the card: the selection and unlocked state are lost.
    case reset
    /// The named step timed out.
    case timedOut(String)
    /// The operation was cancelled.
    case cancelled
    /// The service was already closed.
    case closed
    /// The card does not respond when powered, or cannot communicate with the reader.
    case unresponsive(String)
    /// The response is malformed.
    case malformed(WireError)
    /// The recording does not match what was sent.
    case replay(ReplayMismatch)
    /// The capture file could not be read or written.
    case capture(String)
    /// Any other failure, with the code of the layer below.
    case failed(code: UInt32, String)

    /// What was refused, which determines the rule that has to allow it.
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

        /// Creates a holder.
        public init(pid: Int32, name: String) {
            self.pid = pid
            self.name = name
        }
    }
}

extension LinkError.Holder: CustomStringConvertible {
    /// Name and process.
    public var description: String { "\(name) (pid \(pid))" }
}

/// Where a replay deviates from its recording: the line, and the expected and actual bytes, with secrets overwritten.
public struct ReplayMismatch: Hashable, Sendable {
    /// The line of the capture, which is its last one after the end; 0 if all of it was searched.
    public let line: Int
    /// The recorded bytes, if a command is recorded there.
    public let expected: [UInt8]?
    /// The bytes sent by the host, if any.
    public let actual: [UInt8]?
    /// What happened, in a few words.
    public let reason: String
    /// The recorded command, in words.
    public var expectedWords: String?
    /// The command sent by the host, in words.
    public var actualWords: String?
    /// Whether another tool made the recording, so that the order of its commands may differ.
    public var isOfAnotherTool = false

    /// The overwritten secret that the replay lacks, if that is the reason.
    public private(set) var overwritten: String?

    /// A secret is needed that was overwritten when the session was recorded.
    public static func overwritten(_ name: String, line: Int = 0) -> ReplayMismatch {
        var mismatch = ReplayMismatch(
            line: line, reason: "\(name) is a secret, which was overwritten in the recording")
        mismatch.overwritten = name
        return mismatch
    }

    /// Creates a mismatch.
    public init(line: Int, expected: [UInt8]? = nil, actual: [UInt8]? = nil, reason: String) {
        self.line = line
        self.expected = expected
        self.actual = actual
        self.reason = reason
    }
}
