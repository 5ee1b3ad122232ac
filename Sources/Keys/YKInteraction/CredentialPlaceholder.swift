// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKProtocols

extension CredentialKind {
    /// A well-formed stand-in, for a program that shows what it would send without having the credential.
    public var placeholder: String {
        switch self {
        case .openPGPAdminPIN, .openPGPResetCode, .pivPUK: "12345678"
        case .lockCode: "000102030405060708090a0b0c0d0e0f"
        case .accessCode: "000000000000"
        default: "123456"
        }
    }
}
