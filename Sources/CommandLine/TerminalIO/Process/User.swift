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

/// The machine that the program runs on.
package enum Machine {
    /// Its name on the network; empty if it has none.
    package static var name: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
