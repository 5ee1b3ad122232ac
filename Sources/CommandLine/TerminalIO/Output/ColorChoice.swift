// SPDX-License-Identifier: Apache-2.0

import Arguments

/// When colors and bold text are used.
package enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never
}
