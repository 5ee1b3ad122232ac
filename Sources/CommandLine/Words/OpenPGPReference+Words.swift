// SPDX-License-Identifier: Apache-2.0

import TerminalIO
package import YKOpenPGP

extension OpenPGPKDF.Reference {
    /// The name in messages.
    package var words: String {
        switch self {
        case .user: "user PIN"
        case .reset: "reset code"
        case .admin: "admin PIN"
        }
    }
}
