// SPDX-License-Identifier: Apache-2.0

/// The command line of a program started under the name of an age plugin.
enum AgePluginLine {
    private static let prefix = "age-plugin-"

    /// Returns the equivalent arguments for ykit. `--age-plugin=STATE` becomes the verb that serves age; options of
    /// age-plugin-yubikey that people type become verbs.
    ///
    /// - Parameter line: The program name and its arguments.
    static func words(_ line: [String]) -> [String] {
        let words = Array(line.dropFirst())
        guard let program = line.first else { return words }
        let name = program.utf8.lastIndex(of: UInt8(ascii: "/")).map { program[$0...].dropFirst() } ?? program[...]
        guard name.hasPrefix(prefix) else { return words }
        if let index = words.firstIndex(where: { $0.hasPrefix("--age-plugin=") }) {
            var rest = words
            let state = rest.remove(at: index).dropFirst("--age-plugin=".count)
            return ["age", "plugin", "--state", String(state)] + rest
        }
        let verbs = [
            "--generate": "generate", "-g": "generate", "--identity": "identity", "-i": "identity", "--list": "list",
            "-l": "list", "--list-all": "list",
        ]
        guard let index = words.firstIndex(where: { verbs[$0] != nil }), let verb = verbs[words[index]] else {
            return words.isEmpty ? ["age"] : words
        }
        var rest = words
        rest.remove(at: index)
        if verb == "identity" { rest.removeAll { $0 == "--slot" } }
        let form = name.dropFirst(prefix.count) == "yubikey" && verb != "generate" ? ["--form", "yubikey"] : []
        return ["age", verb] + form + rest.map { $0 == "--serial" ? "--device" : $0 }
    }
}
