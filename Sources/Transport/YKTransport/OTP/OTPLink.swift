// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A way to the OTP application of a key: commands with a payload out, data or a new status back.
///
/// It is synchronous, used by one thread at a time, and handed over once to who uses it.
public protocol OTPLink: AnyObject {
    /// The world this link works in.
    var environment: Environment { get }
    /// How the application is reached.
    var carrier: OTPCarrier { get }

    /// Asks the application for its status.
    func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Sends a command that answers with data, and gives them; `waiting` is called while the key waits for a touch.
    ///
    /// Throws `rejected` when the key gives no data, `notTouched` when its own time was over.
    func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8]

    /// Sends a command that changes the application, and gives the status that proves that it did.
    ///
    /// Throws `rejected` when the key did not take it, as with a wrong access code.
    func write(_ command: OTPCommand, _ payload: [UInt8], deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Lets other programs use the key until the next command.
    func rest()

    /// Ends the use of the key.
    func close()
}

/// How an OTP application is reached.
public enum OTPCarrier: String, Sendable, Hashable {
    /// Feature reports of the key's keyboard.
    case hid
    /// A smart card.
    case card
}

/// How long a reply is.
public enum OTPReplySize: Sendable, Hashable {
    /// So many bytes.
    case bytes(Int)
    /// As many as the first byte says, and that byte.
    case counted

    /// How many bytes of a reply count.
    func count(of reply: [UInt8]) -> Int {
        switch self {
        case .bytes(let count): count
        case .counted: 1 + Int(reply.first ?? 0)
        }
    }
}

/// Why a command to the OTP application failed.
public enum OTPLinkError: Error, Hashable, Sendable {
    /// The device failed.
    case device(LinkError)
    /// The card failed, or ended the command with a status word that means nothing special here.
    case card(CardError)
    /// The key did not do it: the access code is missing or wrong, the slot is empty or of another kind, or the firmware
    /// does not know the command.
    case rejected(OTPCommand)
    /// Nobody touched the key in its time.
    case notTouched
    /// What came back makes no sense.
    case malformed(WireError)

    /// The failure of the link at the bottom, when it was one.
    public var link: LinkError? {
        switch self {
        case .card(.link(let error)), .device(let error): error
        default: nil
        }
    }
}
