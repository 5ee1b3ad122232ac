// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
package import YKFIDO

/// Whether user verification is required.
package enum VerificationChoice: String, CaseIterable, ExpressibleByArgument {
    case required, preferred, discouraged

    /// What the secret of a credential can depend on.
    package static let ofSecrets: [VerificationChoice] = [.required, .discouraged]

    package var requirement: UserVerification {
        switch self {
        case .required: .required
        case .preferred: .preferred
        case .discouraged: .discouraged
        }
    }
}
