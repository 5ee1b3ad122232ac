// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import Verbs

/// A slot whose key or certificate is deleted.
struct ClearedSlot: Report {
    let slot: String
    static let members: [Member<ClearedSlot>] = [Member("slot") { $0.slot }]
}
