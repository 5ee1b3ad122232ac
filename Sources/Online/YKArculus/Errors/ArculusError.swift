// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKTransport

/// Why an operation with an Arculus card or its server failed.
public enum ArculusError: Error, Hashable, Sendable {
    /// The card or its transport failed, or the options are invalid.
    case card(WebAuthnError, during: ArculusStep)
    /// No reader, or no card was presented in time.
    case reader(LinkError)
    /// After the first card was lost, another one was presented.
    case otherCard
    /// The card is not an Arculus card, and only those are accepted; its AAGUID.
    case notArculus([UInt8])
    /// The card was lost during PIN verification and has fewer retries now: the PIN may have been wrong, and is not
    /// sent again.
    case pinInDoubt(PINRetries)
    /// The card was lost during the PIN change: it has the old PIN or the new one.
    case changeInDoubt
    /// The PIN is invalid; nothing was sent.
    case unsuitablePIN(ArculusPINProblem)
    /// The server or the backend refused.
    case server(ArculusRefusal)
    /// The server gave no usable reply.
    case http(HTTPError)
    /// The reply of the server or the backend violates the protocol.
    case reply(String)
    /// The server's configuration is invalid.
    case configuration(String)
}

/// A step of an operation.
public enum ArculusStep: String, Hashable, Sendable {
    /// Opening the card.
    case opening
    /// Creating a credential.
    case registering
    /// Requesting an assertion.
    case authenticating
    /// Resetting the card.
    case resetting
    /// Setting or changing a PIN.
    case settingPIN
}

/// Why a PIN is refused before it is sent.
public enum ArculusPINProblem: Hashable, Sendable {
    /// It is too short for an Arculus card.
    case tooShort(Int)
    /// It has characters other than digits.
    case notDigits
}

extension ArculusError {
    /// Converts an error of the card's service.
    init(_ error: FIDOError, _ step: ArculusStep) { self = .card(.key(error), during: step) }

    /// Whether the card was removed during the operation.
    public var isTagLost: Bool {
        guard let link else { return false }
        return switch link {
        case .removed, .reset, .unresponsive, .noCard: true
        default: false
        }
    }

    /// The underlying link error, if there is one.
    var link: LinkError? {
        switch self {
        case .card(.key(.ctap(.link(let error))), _): error.link
        case .reader(let error): error
        default: nil
        }
    }

    /// Whether the operation was cancelled.
    public var isCancelled: Bool { link == .cancelled || self == .http(.cancelled) }
}
