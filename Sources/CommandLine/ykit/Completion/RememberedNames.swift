// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Names that verbs have listed, kept for the shell's TAB, which never asks a key.
///
/// They are in `$XDG_CACHE_HOME/ykit/names.json`, which only its owner may read: serial numbers, names of readers, and
/// names of OATH accounts that no password protects. `YKIT_NAMES=off` keeps none.
struct RememberedNames: Equatable {
    var serials: [String] = []
    var readers: [String] = []
    var accounts: [String] = []

    /// How many of a kind are kept.
    private static let limit = 256

    /// Reads them; none where there is no file, or none that can be read.
    static func read() -> RememberedNames {
        guard let path, Files.isFile(path), let bytes = try? Files.read(path), let json = try? JSON(parsing: bytes)
        else { return RememberedNames() }
        func list(_ key: String) -> [String] { (json[key]?.array ?? []).compactMap(\.string) }
        return RememberedNames(serials: list("serials"), readers: list("readers"), accounts: list("accounts"))
    }

    /// Changes them; what cannot be written is left alone, as nothing depends on it.
    static func update(_ change: (inout RememberedNames) -> Void) {
        guard let path else { return }
        let before = read()
        var all = before
        change(&all)
        all = RememberedNames(serials: kept(all.serials), readers: kept(all.readers), accounts: kept(all.accounts))
        guard all != before else { return }
        let object: JSON = [
            "serials": .array(all.serials.map(JSON.string)), "readers": .array(all.readers.map(JSON.string)),
            "accounts": .array(all.accounts.map(JSON.string)),
        ]
        Files.makeFolder(String(path.dropLast("/names.json".count)))
        try? Files.write(Array(object.text.utf8), to: path)
    }

    private static func kept(_ names: [String]) -> [String] { Array(names.filter { $0 == $0.printable }.prefix(limit)) }

    /// The file; `nil` where names are not wanted, or there is no place for them.
    private static var path: String? {
        guard Variables["YKIT_NAMES"] != "off" else { return nil }
        if let cache = Variables["XDG_CACHE_HOME"], cache.hasPrefix("/") { return cache + "/ykit/names.json" }
        return Variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache/ykit/names.json" : nil }
    }
}

extension World {
    /// Keeps names for the shell's TAB, unless they are those of a recording or of a key in software.
    func remember(_ change: (inout RememberedNames) -> Void) {
        guard options.replay == nil, options.virtual == nil, !options.plan else { return }
        RememberedNames.update(change)
    }
}
