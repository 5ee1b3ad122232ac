// SPDX-License-Identifier: Apache-2.0

public import YKProtocols
public import YKTransport
import YKWire

/// Why an operation of the Secrets application failed.
public enum SecretsError: Error, Hashable, Sendable {
    /// The exchange with the key failed, or ended with a status word that has no meaning here.
    case card(CardError)
    /// The card's application with this AID is Yubico's OATH application.
    case otherApplication
    /// The PIN is wrong (6300); the tries that are left, if the key reports them.
    case wrongPIN(triesLeft: Int?)
    /// The PIN has no tries left: only a reset helps.
    case pinBlocked
    /// No PIN is set.
    case noPIN
    /// A PIN is already set (6982).
    case pinExists
    /// The operation requires the PIN (6982).
    case pinRequired
    /// No entry has this name, or it is protected and the PIN was not given (6A82).
    case noSuchEntry(SecretsName)
    /// An entry with this name exists (6983), perhaps a protected one.
    case entryExists(SecretsName)
    /// The key has no room for another entry (6A84).
    case full
    /// Nobody touched the key in time (6982).
    case touchTimeout
    /// The code does not match this counter or the next nine (6300).
    case wrongCode
    /// The entry is not of a kind that can do this (6985).
    case wrongKind(SecretsName)
    /// The application's version does not support this; nothing was sent.
    case unsupported(SecretsFeature, has: FirmwareVersion)
    /// A name is not 1 to 127 bytes; nothing was sent.
    case badName(bytes: Int)
    /// A login, password or metadata is longer than 127 bytes; nothing was sent.
    case fieldTooLong(bytes: Int)
    /// A PIN is not 1 to 127 bytes; nothing was sent.
    case badPIN(bytes: Int)
    /// A secret is not 1 to 125 bytes, or 20 for an entry that answers challenges; nothing was sent.
    case badSecret(bytes: Int)
    /// A code is not 6 to 8 digits, or is not a number; nothing was sent.
    case badCode
    /// The hash is not SHA-1 or SHA-256, or not SHA-1 for an entry that answers challenges; nothing was sent.
    case badAlgorithm
}

extension SecretsError {
    /// Lifts the error of a command; the only place that does.
    ///
    /// - Parameter entry: The entry that the command is about.
    init(_ error: CardError, about entry: SecretsName?) {
        guard case .status(let status, let command) = error,
            let meaning = Self.meaning(status, of: command, entry)
        else {
            self = .card(error)
            return
        }
        self = meaning
    }

    private static func meaning(
        _ status: StatusWord, of command: String, _ entry: SecretsName?
    ) -> SecretsError? {
        switch (status, command) {
        case (SecretsProtocol.verificationFailed, VerifyCode.name): .wrongCode
        case (SecretsProtocol.verificationFailed, VerifyPIN.name),
            (SecretsProtocol.verificationFailed, ChangePIN.name):
            .wrongPIN(triesLeft: nil)
        case (.securityStatusNotSatisfied, _): .touchTimeout
        case (.notFound, _): entry.map { .noSuchEntry($0) }
        case (.authenticationBlocked, _): entry.map { .entryExists($0) }
        case (.noSpace, _): .full
        case (.conditionsNotSatisfied, _): entry.map { .wrongKind($0) }
        default: nil
        }
    }
}

extension SecretsError: CardCaused {
    /// The failure of the card or link, for `card`.
    public var cardCause: CardError? { if case .card(let error) = self { error } else { nil } }
}

extension SecretsError: CredentialRefusal {
    /// The PIN, if the key refused it.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongPIN(let left): RefusedCredential(.secretsPIN, triesLeft: left)
        case .pinBlocked: RefusedCredential(.secretsPIN, triesLeft: 0)
        default: nil
        }
    }
}
