// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

extension PINProtocol {
    /// The protocol to use with a key: the first in its list that is supported here.
    public init?(preferredBy info: AuthenticatorInfo) {
        guard let found = info.pinProtocols.lazy.compactMap(PINProtocol.init(rawValue:)).first else { return nil }
        self = found
    }
}
