// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

/// Why an operation of the Security Domain failed.
public enum SecurityDomainError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that means nothing special here.
    case card(CardError)
    /// Keys are managed through a channel that proves who the host is: SCP03 or SCP11a. Nothing was sent.
    case hostNotAuthenticated
    /// A channel with a key for the encryption of keys is needed: an SCP03 set with its DEK. Nothing was sent.
    case noDataEncryptionKey
    /// A reset needs a card without an open channel. Nothing was sent.
    case channelOpen
    /// The card has no such key (6A88).
    case noSuchKey(SCPKeyReference)
    /// There is no room for another key (6A84).
    case full
    /// It would delete the last key, which leaves the card to its factory keys (6985).
    case wouldDeleteLast
    /// The card refuses the key or its reference, which may be in use (6A80).
    case refused(SCPKeyReference)
    /// The card answered with the check value of another key than was sent: what it holds is not known.
    case wrongCheckValue(SCPKeyReference)
    /// The reference is not of a key of this kind; why. Nothing was sent.
    case badReference(String)
    /// The key or certificate cannot be used; why. Nothing was sent.
    case badKey(String)
    /// A key could not be blocked during a reset; others may be gone already.
    case resetIncomplete(SCPKeyReference, StatusWord)
    /// A primitive failed on this computer.
    case crypto(CryptoFault)
}

extension SecurityDomainError {
    /// Lifts what the card said of a command about a key; the only place that does.
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
