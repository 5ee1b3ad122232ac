// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Synchronization
import YKWire

/// Standard input has one reader: a file named `-`, or an option for a secret. Several secrets are read from it, one line
/// each, only by a verb whose help gives their order.
package enum StandardInput {
    /// What has been read so far.
    private enum Use {
        case lines, everything
    }

    private static let use = Mutex<Use?>(nil)

    private static let names: Set = ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]

    /// Refuses a command line on which several options or arguments read standard input. An argument that reads it by
    /// default counts as well.
    ///
    /// - Parameter readsLines: Whether the verb reads several secrets, one line each.
    package static func check(_ declarations: [Declaration], readsLines: Bool) throws(Explanation) {
        let files = declarations.flatMap { item in [Declaration](repeating: item, count: fileCount(item)) }
        let secrets = declarations.filter { isSecret($0) }
        if files.count > 1 { throw conflict(files[0], files[1]) }
        if let file = files.first, let secret = secrets.first { throw conflict(file, secret) }
        if !readsLines, secrets.count > 1 { throw conflict(secrets[0], secrets[1]) }
    }

    /// How often standard input is a file that a declaration reads.
    private static func fileCount(_ item: Declaration) -> Int {
        switch item.choices.completion {
        case .input, .inputText: break
        default: return 0
        }
        if let list = item.value as? [String] { return list.count { names.contains($0) } }
        guard let text = item.value as? String else { return 0 }
        return names.contains(text) ? 1 : 0
    }

    /// Whether a declaration reads a secret from standard input.
    private static func isSecret(_ item: Declaration) -> Bool {
        guard item.isGiven else { return false }
        if case .flag(let names) = item.place { return names.plain.hasSuffix("-stdin") }
        return item.name.hasSuffix("-fd") && item.value as? Int32 == 0
    }

    private static func conflict(_ first: Declaration, _ second: Declaration) -> Explanation {
        .usage(
            "\(first.label()) and \(second.label()) cannot both read standard input",
            hint: first.choices.completion == nil
                ? "give one of them in another way" : "name a file, or give the secret in another way")
    }

    /// Marks standard input as read by a secret, or refuses it if a file was read from it.
    static func beginLine() throws(Explanation) { try begin(.lines) }

    /// Marks standard input as read to its end, or refuses it if anything was read from it.
    static func beginFile() throws(Explanation) { try begin(.everything) }

    private static func begin(_ new: Use) throws(Explanation) {
        let isFree = use.withLock { use in
            guard use == nil || use == .lines && new == .lines else { return false }
            use = new
            return true
        }
        if !isFree { throw .usage("standard input is read for two purposes") }
    }
}

/// Binary arguments.
package enum BytesArgument {
    /// Decodes base64url or base64.
    package static func base64(_ text: String, _ option: String) throws(Explanation) -> [UInt8] {
        guard let bytes = try? Base64.decode(text), !bytes.isEmpty else {
            throw .usage("\(option) takes bytes in base64url, and '\(text.printable)' is not base64url")
        }
        return bytes
    }

    /// Decodes hexadecimal if the text consists of hexadecimal digits, twice `count` of them; otherwise base64url.
    package static func hexOrBase64(_ text: String, _ option: String, count: Int? = nil) throws(Explanation) -> [UInt8]
    {
        if let bytes = try? Hex.decode(text), !bytes.isEmpty, count == nil || bytes.count == count { return bytes }
        let bytes = try base64(text, option)
        if let count, bytes.count != count { throw .usage("\(option) takes \(count) bytes, got \(bytes.count)") }
        return bytes
    }
}
