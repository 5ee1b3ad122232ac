// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// A link to the OTP application of a key: commands with a payload out, data or a new status back.
///
/// It is synchronous, used by one thread at a time, and transferred once to its user.
public protocol OTPLink: AnyObject {
    /// The environment of the link.
    var environment: ServiceEnvironment { get }
    /// How the application is reached.
    var carrier: OTPCarrier { get }

    /// Reads the status of the application.
    func status(deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Sends a command that returns data; `waiting` is called while the key waits for a touch.
    ///
    /// - Throws: `rejected` when the key returns no data, `notTouched` when the key's touch timeout expires.
    func query(
        _ command: OTPCommand, _ payload: [UInt8], reply: OTPReplySize, deadline: Deadline, waiting: () -> Void
    ) throws(OTPLinkError) -> [UInt8]

    /// Sends a command that changes the application, and returns the status that confirms the change.
    ///
    /// - Throws: `rejected` when the key refuses it, for example because of a wrong access code.
    func write(_ command: OTPCommand, _ payload: [UInt8], deadline: Deadline) throws(OTPLinkError) -> OTPStatus

    /// Lets other programs use the key until the next command.
    func rest()

    /// Closes the link.
    func close()
}

/// How an OTP application is reached.
public enum OTPCarrier: String, Sendable, Hashable {
    /// Feature reports of the key's keyboard interface.
    case hid
    /// A smart card.
    case card
}

/// The length of a reply.
public enum OTPReplySize: Sendable, Hashable {
    /// This many bytes.
    case bytes(Int)
    /// As many as the first byte says, plus that byte.
    case counted

    /// The number of valid bytes in a reply.
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
    /// The card failed, or returned a status word without a special meaning here.
    case card(CardError)
    /// The key refused: the access code is missing or wrong, the slot is empty or programmed for something else, or the firmware does
    /// not know the command.
    case rejected(OTPCommand)
    /// The key was not touched in time.
    case notTouched
    /// The reply is malformed.
    case malformed(WireError)

    /// The underlying link failure, if any.
    public var link: LinkError? { LinkError(causing: self) }
}
