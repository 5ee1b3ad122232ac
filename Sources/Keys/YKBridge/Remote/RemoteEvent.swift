// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKInteraction
import YKProtocols
import YKTransport
public import YKVirtualKeyHost
public import YKWire

/// An event to show to the user at the near end.
public enum RemoteEvent: Hashable, Sendable {
    /// The far end has answered; the version of its program, as it claims.
    case connected(program: String)
    /// A ceremony begins: the user is asked, or the key is used without a question.
    case begun(Ceremony, asks: Bool)
    /// A request was refused.
    case refused(Ceremony?, RemotePolicy.Refusal)
    /// The far end searched for credentials of a site, without the user: the CTAP2 status of the answer.
    case searched(site: String, status: UInt8)
    /// A program at the far end selected an application of the card, which no other program here can use until then.
    case opened(RemoteApplication)
    /// The far end withdrew its request.
    case withdrawn(Ceremony)
    /// The key has answered: the CTAP2 status of the answer (CTAP 2.2 §8.2).
    case answered(Ceremony, status: UInt8)
    /// The card has answered: the status word of the answer.
    case used(CardUse, StatusWord)
    /// The key did not perform the request.
    case failed(Ceremony, FIDOError)
}

/// The status reported to the far end for a local error. It does not reveal that a PIN was wrong, or how many tries are
/// left.
extension FIDOError {
    /// The CTAP2 status of the answer.
    var farStatus: UInt8 {
        typealias Status = CTAPProtocol.Status
        return switch self {
        case .ctap(.status(let status, _)): status.rawValue
        case .ctap(.tooLong): Status.requestTooLarge
        case .ctap(.link(let error)) where error.link == .cancelled: Status.keepaliveCancel
        case .unsupported: Status.unsupportedOption
        case .touchTimeout, .placementTimeout: Status.userActionTimeout
        case .noCredentials: Status.noCredentials
        case .credentialExcluded: Status.credentialExcluded
        case .full: Status.keyStoreFull
        case .notAllowed: Status.notAllowed
        case .denied, .wrongPIN, .pinNeedsPowerCycle, .pinBlocked, .pinNeeded, .pinNotSet, .pinChangeForced,
            .userNotRecognised, .userVerificationBlocked:
            Status.operationDenied
        default: Status.other
        }
    }

    /// Whether the operation was cancelled.
    var isCancellation: Bool {
        if case .ctap(.link(let error)) = self { error.link == .cancelled } else { false }
    }
}

/// Why a remote bridge did not start, or ended.
public enum RemoteError: Error, Hashable, Sendable {
    /// The other end ended, or sent something else, before its greeting; with the beginning of what it sent.
    case noGreeting(String)
    /// The ends have no protocol version in common; with the versions of this end and of the other one, and the program
    /// that the other one claims to be.
    case incompatible(own: ClosedRange<UInt8>, other: ClosedRange<UInt8>, program: String)
    /// The other end violated the protocol.
    case violation(WireError)
    /// The other end ended the connection for a reason.
    case ended(RemoteEnding)
    /// The connection was cut, or the other end was silent for too long.
    case lost
    /// The far end does not know applications of cards; what it says its program is.
    case noCards(program: String)
    /// The far end has no reader to put the card into, or no longer.
    case reader(VPCDError)
    /// The device could not be created.
    case device(UHIDError)
    /// The key does not support FIDO2.
    case noFIDO2
    /// The system allows no more threads.
    case noThread
}
