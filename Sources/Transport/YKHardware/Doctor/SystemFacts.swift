// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Facts about this machine: kernel, distribution, and udev rules for keys.
package struct SystemFacts: Sendable, Hashable {
    /// Name and release of the kernel.
    package var kernel: String
    /// The name of the distribution.
    package var distribution: String
    /// The names of the udev rules files for security keys.
    package var rules: [String]

    package init(kernel: String, distribution: String, rules: [String]) {
        self.kernel = kernel
        self.distribution = distribution
        self.rules = rules
    }

    /// Reads the files below `root`.
    package static func find(root: String = "") -> SystemFacts {
        let release = SystemFile.text("\(root)/proc/sys/kernel/osrelease")?.prefix { $0 != "\n" } ?? "?"
        let facts = HIDDevice.variables(
            SystemFile.text("\(root)/etc/os-release") ?? SystemFile.text("\(root)/usr/lib/os-release") ?? "")
        let name = facts["PRETTY_NAME"] ?? facts["ID"] ?? "?"
        return SystemFacts(
            kernel: "Linux \(release)", distribution: name.filter { $0 != "\"" }, rules: rules(root))
    }

    private static let words = [
        "u2f", "fido", "yubi", "ykit", "nitrokey", "canokey", "solo", "token", "onlykey", "uaccess",
    ]

    private static func rules(_ root: String) -> [String] {
        let folders = ["/etc/udev/rules.d", "/run/udev/rules.d", "/usr/lib/udev/rules.d"]
        return folders.flatMap { folder in
            SystemFile.names(in: "\(root)\(folder)").sorted().filter { name in
                name.hasSuffix(".rules") && words.contains { name.lowercased().contains($0) }
            }.map { "\(folder)/\($0)" }
        }
    }
}
