// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKHTTP
public import YKTransport

/// Why an operation with an Arculus card or its server failed.
public enum ArculusError: Error, Hashable, Sendable {
    /// The card or the way to it failed, or the options are not what a client takes.
    case card(WebAuthnError, during: ArculusStep)
    /// No reader, or no card held to it in time.
    case reader(LinkError)
    /// After the first card was lost, another one came.
    case otherCard
    /// The card is no Arculus card, and only such are wanted; its model number.
    case notArculus([UInt8])
    /// The card was lost while it checked the PIN and has fewer tries now: the PIN may have been wrong, and is not sent
    /// again.
    case pinInDoubt(PINRetries)
    /// The card was lost while its PIN was changed: it has the old one or the new one.
    case changeInDoubt
    /// The PIN cannot be one; nothing was sent.
    case unsuitablePIN(ArculusPINProblem)
    /// The server, or the backend in between, refused.
    case server(ArculusRefusal)
    /// The server gave no answer that can be used.
    case http(HTTPError)
    /// What the server, or the backend in between, answered is not what the protocol says.
    case reply(String)
    /// The description of the server is wrong.
    case configuration(String)
}

/// What was being done.
public enum ArculusStep: String, Hashable, Sendable {
    /// The card was looked at.
    case opening
    /// A credential was made.
    case registering
    /// A credential signed.
    case authenticating
    /// The card was reset.
    case resetting
    /// A PIN was set or changed.
    case settingPIN
}

/// Why a PIN is refused here, before the card sees it.
public enum ArculusPINProblem: Hashable, Sendable {
    /// It has fewer characters than an Arculus card's.
    case tooShort(Int)
    /// It has other characters than digits.
    case notDigits
}

extension ArculusError {
    /// Lifts an error of the card's service.
    init(_ error: FIDOError, _ step: ArculusStep) { self = .card(.key(error), during: step) }

    /// Whether the card was taken away in the middle.
    public var isTagLost: Bool {
        guard let link else { return false }
        return switch link {
        case .removed, .reset, .unresponsive, .noCard: true
        default: false
        }
    }

    /// The failure of the link at the bottom, when it was one.
    var link: LinkError? {
        switch self {
        case .card(.key(.ctap(.link(let error))), _): error.link
        case .reader(let error): error
        default: nil
        }
    }

    /// Whether the whole was called off.
    public var isCancelled: Bool { link == .cancelled || self == .http(.cancelled) }
}
