// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
package import YKPIV

/// A PIV slot on the command line.
package struct PIVSlotArgument: ExpressibleByArgument {
    package let slot: PIVSlot

    package init?(argument: String) {
        guard let slot = PIVSlot(argument: argument) else { return nil }
        self.slot = slot
    }
}
