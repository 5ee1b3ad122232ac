// SPDX-License-Identifier: Apache-2.0

import Arguments

// Options that name a file: help shows the value as <file>, and the shell completes it.

extension Option where Value == String {
    /// A required option.
    init(_ names: Names, file help: String) {
        self.init(names, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }

    /// An option with a default value.
    init(wrappedValue: String, _ names: Names, file help: String) {
        self.init(
            wrappedValue: wrappedValue, names, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}

extension Option where Value == String? {
    /// An optional option.
    init(_ names: Names, file help: String) {
        self.init(names, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}

extension Option where Value == [String] {
    /// A repeatable option.
    init(wrappedValue: [String], _ names: Names, file help: String) {
        self.init(
            wrappedValue: wrappedValue, names, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}
