// SPDX-License-Identifier: Apache-2.0

import YKManagement

extension Explain {
    static func management(_ error: ManagementError) -> Explanation {
        switch error {
        case .card(let error): card(error)
        case .endlessInfo: malformed("the key announces more device information than there can be")
        }
    }
}
