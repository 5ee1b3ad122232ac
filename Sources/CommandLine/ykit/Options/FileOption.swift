// SPDX-License-Identifier: Apache-2.0

import Arguments

// Options that name a file: help shows the value as <file>, and the shell completes it.

extension Option where Value == String {
    /// A required option.
    init(name: Names = .long, file help: String) {
        self.init(name: name, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }

    /// An option with a default value.
    init(wrappedValue: String, name: Names = .long, file help: String) {
        self.init(
            wrappedValue: wrappedValue, name: name, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}

extension Option where Value == String? {
    /// An optional option.
    init(name: Names = .long, file help: String) {
        self.init(name: name, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}

extension Option where Value == [String] {
    /// A repeatable option.
    init(wrappedValue: [String], name: Names = .long, file help: String) {
        self.init(
            wrappedValue: wrappedValue, name: name, help: ArgumentHelp(help, valueName: "file"), completion: .file)
    }
}
