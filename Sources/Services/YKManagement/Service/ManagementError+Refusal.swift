// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

extension ManagementError: CredentialRefusal {
    /// The lock code that the key refused; there is no limit to tries.
    public var refusedCredential: RefusedCredential? {
        self == .wrongLockCode ? RefusedCredential(.lockCode, triesLeft: nil) : nil
    }
}
