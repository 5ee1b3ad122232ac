// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

extension OpenPGPError: CredentialRefusal {
    /// The PIN or reset code that the card refused.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongPIN(let reference, let left): RefusedCredential(reference.kind, triesLeft: left)
        case .blocked(let reference): RefusedCredential(reference.kind, triesLeft: 0)
        case .userPINAdministers(let left): RefusedCredential(.openPGPAdminPIN, triesLeft: left)
        default: nil
        }
    }
}

extension OpenPGPKDF.Reference {
    /// The kind of credential.
    public var kind: CredentialKind {
        switch self {
        case .user: .openPGPUserPIN
        case .reset: .openPGPResetCode
        case .admin: .openPGPAdminPIN
        }
    }
}
