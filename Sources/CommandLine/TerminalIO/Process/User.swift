// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The user who runs the program.
package enum User {
    /// The login name, or else the numeric id.
    package static var name: String {
        guard let entry = getpwuid(getuid()), let name = entry.pointee.pw_name else { return String(getuid()) }
        return String(cString: name)
    }
}
