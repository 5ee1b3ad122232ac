// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

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
