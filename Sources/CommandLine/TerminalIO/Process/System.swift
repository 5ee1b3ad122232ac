// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Information from the operating system.
package enum System {
    /// The description of the last failed system call.
    package static var failure: String { String(cString: strerror(errno)) }
}
