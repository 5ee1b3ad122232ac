// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why an operation of the Security Domain failed.
public enum SecurityDomainError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that has no meaning here.
    case card(CardError)
    /// Managing keys requires a channel that authenticates the host: SCP03 or SCP11a. Nothing was sent.
    case hostNotAuthenticated
    /// A channel with a data encryption key is required: an SCP03 set with its DEK. Nothing was sent.
    case noDataEncryptionKey
    /// A reset requires a card without an open channel. Nothing was sent.
    case channelOpen
    /// The card is not a YubiKey: only YubiKeys restore their factory keys once all keys are blocked. Nothing was sent.
    case noReset
    /// The card has no such key (6A88).
    case noSuchKey(SCPKeyReference)
    /// The key has no room for another key (6A84).
    case full
    /// This would delete the last key, and so restore the card's factory keys (6985).
    case wouldDeleteLast
    /// The card refuses the key or its reference, which may be in use (6A80).
    case refused(SCPKeyReference)
    /// The card returned a wrong check value: which key it stored is unknown.
    case wrongCheckValue(SCPKeyReference)
    /// The reference does not fit this kind of key; why. Nothing was sent.
    case badReference(String)
    /// The key or certificate cannot be used; why. Nothing was sent.
    case badKey(String)
    /// A key could not be blocked during a reset; others may already be deleted.
    case resetIncomplete(SCPKeyReference, StatusWord)
    /// All keys were blocked for a reset, but the resulting ones could not be read.
    indirect case resetUnchecked(SecurityDomainError)
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
}

extension SecurityDomainError {
    /// Lifts the error of a command about a key; the only place that does.
    init(_ error: CardError, _ reference: SCPKeyReference?) {
        guard case .status(let status, let command) = error, let reference else {
            self = .card(error)
            return
        }
        switch (status, command) {
        case (.referenceNotFound, _): self = .noSuchKey(reference)
        case (.noSpace, _): self = .full
        case (.securityStatusNotSatisfied, _): self = .hostNotAuthenticated
        case (.conditionsNotSatisfied, DeleteSecurityKey.name): self = .wouldDeleteLast
        case (.incorrectParameters, _): self = .refused(reference)
        default: self = .card(error)
        }
    }
}

extension SecurityDomainError: CardCaused {
    /// The failure of the card or link, for `card`.
    public var cardCause: CardError? {
        switch self {
        case .card(let error): error
        case .resetUnchecked(let error): error.cardCause
        default: nil
        }
    }
}
