// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Information from the operating system.
package enum System {
    /// The description of the last failed system call.
    package static var failure: String { String(cString: strerror(errno)) }

    /// The path of this program; empty if unknown.
    package static var executable: String {
        var path = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/exe", &path, path.count - 1) > 0 else { return "" }
        return String(decoding: path.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
