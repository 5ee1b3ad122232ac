// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKHardware
package import YKInteraction
import YKWire

/// Names from earlier listings, stored for completion, which never accesses a key.
///
/// They are in `$XDG_CACHE_HOME/ykit/names.json`, which only its owner may read: serial numbers, reader names, and
/// names of OATH accounts without a password. `YKIT_NAMES=off` stores none.
package struct RememberedNames: Equatable {
    package var serials: [String] = []
    package var readers: [String] = []
    package var accounts: [String] = []

    /// The maximum number of names of each kind.
    private static let limit = 256

    /// Reads the names; returns none if the file is missing or unreadable.
    package static func read(_ variables: EnvironmentVariables) -> RememberedNames {
        path(variables).map(read) ?? RememberedNames()
    }

    private static func read(_ path: String) -> RememberedNames {
        guard Files.isFile(path), let bytes = try? Files.read(path), let json = try? JSONValue(parsing: bytes)
        else { return RememberedNames() }
        func list(_ key: String) -> [String] { (json[key]?.array ?? []).compactMap(\.string) }
        return RememberedNames(serials: list("serials"), readers: list("readers"), accounts: list("accounts"))
    }

    /// Updates the names; write errors are ignored, since nothing depends on them.
    fileprivate static func update(_ variables: EnvironmentVariables, _ change: (inout RememberedNames) -> Void) {
        guard let path = path(variables) else { return }
        let before = read(path)
        var all = before
        change(&all)
        all = RememberedNames(serials: kept(all.serials), readers: kept(all.readers), accounts: kept(all.accounts))
        guard all != before else { return }
        let object: JSONValue = [
            "serials": .array(all.serials.map(JSONValue.string)), "readers": .array(all.readers.map(JSONValue.string)),
            "accounts": .array(all.accounts.map(JSONValue.string)),
        ]
        UserFolder.make(String(path.dropLast("/names.json".count)))
        try? Files.write(Array(object.text.utf8), to: path)
    }

    private static func kept(_ names: [String]) -> [String] { Array(names.filter { $0 == $0.printable }.prefix(limit)) }

    /// The path of the file; `nil` if names are disabled or have no folder.
    private static func path(_ variables: EnvironmentVariables) -> String? {
        guard variables["YKIT_NAMES"] != "off" else { return nil }
        if let cache = variables["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/ykit/names.json" }
        return variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache/ykit/names.json" : nil }
    }
}

extension Run {
    /// Stores names for completion, unless they come from a recording or a virtual key.
    package func remember(_ change: (inout RememberedNames) -> Void) {
        guard options.replay == nil, options.virtual == nil, !options.plan else { return }
        RememberedNames.update(stage.variables, change)
    }
}
