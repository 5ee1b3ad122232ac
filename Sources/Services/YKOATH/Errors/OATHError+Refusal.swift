// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

extension OATHError: CredentialRefusal {
    /// The password that the key refused; there is no limit to tries.
    public var refusedCredential: RefusedCredential? {
        self == .wrongPassword ? RefusedCredential(.oathPassword, triesLeft: nil) : nil
    }
}
