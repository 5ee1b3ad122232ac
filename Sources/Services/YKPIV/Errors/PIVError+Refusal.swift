// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

extension PIVError: CredentialRefusal {
    /// The PIN, PUK or management key that the card refused.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrong(.pin, let left): RefusedCredential(.pivPIN, triesLeft: left)
        case .wrong(.puk, let left): RefusedCredential(.pivPUK, triesLeft: left)
        case .blocked(.pin): RefusedCredential(.pivPIN, triesLeft: 0)
        case .blocked(.puk): RefusedCredential(.pivPUK, triesLeft: 0)
        case .wrongManagementKey: RefusedCredential(.pivManagementKey, triesLeft: nil)
        default: nil
        }
    }
}
