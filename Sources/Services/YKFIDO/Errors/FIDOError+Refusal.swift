// SPDX-License-Identifier: Apache-2.0

public import YKProtocols

extension FIDOError: CredentialRefusal {
    /// The PIN that the key refused. After three wrong ones in a row it accepts no PIN until it is unplugged and
    /// plugged in again.
    public var refusedCredential: RefusedCredential? {
        switch self {
        case .wrongPIN(let retries): RefusedCredential(.fidoPIN, triesLeft: retries?.count)
        case .pinNeedsPowerCycle: RefusedCredential(.fidoPIN, triesLeft: nil)
        case .pinBlocked: RefusedCredential(.fidoPIN, triesLeft: 0)
        default: nil
        }
    }
}
