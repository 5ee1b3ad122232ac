// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKProtocols
public import YKTransport
import YKWire

/// Why an operation of YubiHSM Auth failed.
public enum HSMAuthError: Error, Hashable, Sendable {
    /// The exchange with the card failed, or ended with a status word that has no meaning here.
    case card(CardError)
    /// The management key is wrong (63Cn).
    case wrongManagementKey(triesLeft: Int)
    /// The management key has no retries left: only a reset helps (63C0).
    case managementKeyBlocked
    /// The password of the credential is wrong (63Cn).
    case wrongPassword(HSMAuthLabel, triesLeft: Int)
    /// The password was wrong too often, so the key deleted the credential (63C0).
    case credentialLost(HSMAuthLabel)
    /// No credential has that label (6A82).
    case noSuchCredential(HSMAuthLabel)
    /// A credential with that label exists (6983); it cannot be overwritten.
    case credentialExists(HSMAuthLabel)
    /// The key has no room for another credential (6A84).
    case full
    /// Nobody touched the key in time (6982).
    case touchTimeout
    /// The HSM's cryptogram or receipt is wrong (6984): it is not the HSM with the matching keys.
    case notAuthentic
    /// The key has no challenge pending for this credential (6985).
    case noChallenge
    /// The key refuses this password or key: too simple, or against a rule of the FIPS series (6985).
    case refusedByPolicy
    /// The credential has no public key.
    case notAsymmetric(HSMAuthLabel)
    /// The key's firmware does not support this; nothing was sent.
    case unsupported(HSMAuthFeature, has: FirmwareVersion)
    /// A label is not 1 to 64 bytes; nothing was sent.
    case badLabel(bytes: Int)
    /// A password is longer than 16 bytes; nothing was sent.
    case passwordTooLong(bytes: Int)
    /// The keys have the wrong length in bytes; nothing was sent.
    case badKeyLength(Int)
    /// A challenge, point or cryptogram has the wrong length or form; nothing was sent.
    case badContext(String)
    /// A cryptographic primitive failed on this computer.
    case crypto(CryptoFault)
}

/// The secret in a command, so that an error can name it.
enum HSMAuthSecret {
    case none
    case managementKey
    case password
}

extension HSMAuthError {
    /// Lifts the error of a command; the only place that does.
    init(_ error: CardError, giving secret: HSMAuthSecret, label: HSMAuthLabel?) {
        guard case .status(let status, let command) = error,
            let meaning = Self.meaning(status, of: command, secret, label)
        else {
            self = .card(error)
            return
        }
        self = meaning
    }

    private static func meaning(
        _ status: StatusWord, of command: String, _ secret: HSMAuthSecret, _ label: HSMAuthLabel?
    ) -> HSMAuthError? {
        if let tries = status.triesLeft {
            switch (secret, label) {
            case (.managementKey, _): return tries == 0 ? .managementKeyBlocked : .wrongManagementKey(triesLeft: tries)
            case (.password, let label?):
                return tries == 0 ? .credentialLost(label) : .wrongPassword(label, triesLeft: tries)
            default: return nil
            }
        }
        switch (status, command) {
        case (.noSpace, PutCredential.name): return .full
        case (.authenticationBlocked, PutCredential.name): return label.map { .credentialExists($0) }
        case (.notFound, _): return label.map { .noSuchCredential($0) }
        case (.securityStatusNotSatisfied, CalculateSessionKeys.name),
            (.securityStatusNotSatisfied, GetHostChallenge.name):
            return .touchTimeout
        case (.dataInvalid, CalculateSessionKeys.name): return .notAuthentic
        case (.conditionsNotSatisfied, CalculateSessionKeys.name): return .noChallenge
        case (.conditionsNotSatisfied, _): return secret == .none ? nil : .refusedByPolicy
        case (_, GetPublicKey.name):
            return status == .unknownInstruction ? nil : label.map { .notAsymmetric($0) }
        default: return nil
        }
    }
}

extension HSMAuthError: CardCaused {
    /// The failure of the card or link, for `card`.
    public var cardCause: CardError? { if case .card(let error) = self { error } else { nil } }
}

extension HSMAuthError: CredentialRefusal {
    /// The management key or password that the key refused.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongManagementKey(let left): RefusedCredential(.hsmAuthManagementKey, triesLeft: left)
        case .managementKeyBlocked: RefusedCredential(.hsmAuthManagementKey, triesLeft: 0)
        case .wrongPassword(_, let left): RefusedCredential(.hsmAuthPassword, triesLeft: left)
        case .credentialLost: RefusedCredential(.hsmAuthPassword, triesLeft: 0)
        default: nil
        }
    }
}
