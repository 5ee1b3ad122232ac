// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The last failure of a system call.
enum System {
    /// In words.
    static var failure: String { String(cString: strerror(errno)) }
}
