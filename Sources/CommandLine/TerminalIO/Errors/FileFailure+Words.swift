// SPDX-License-Identifier: Apache-2.0

import Glibc
package import YKHardware
package import YKTransport

extension FileFailure: Explained {
    package var explanation: Explanation {
        switch number {
        case ECANCELED: .interrupted
        case EEXIST: .exists(path)
        default: .file(number, "cannot \(attempt.rawValue) \(path.pathInWords): \(reason)")
        }
    }
}

extension Explanation {
    /// The error for a file that cannot be used, with the system's error number.
    package static func file(_ number: Int32, _ text: String) -> Explanation {
        let exit = ExitStatus(errno: number)
        return Explanation(exit == .notFound ? "no-such-file" : "file", exit, text)
    }

    /// Returns the explanation with the name of the file whose content it is about.
    package func `in`(file: String) -> Explanation {
        var explanation = self
        explanation.message = "\(file.fileName): \(message)"
        return explanation
    }

    /// The error for a new file whose name is taken.
    package static func exists(_ path: String, orElse other: String? = nil) -> Explanation {
        Explanation(
            "file-exists", .policy, "\(path.printable) already exists",
            hint: "choose another name" + (other.map { ", or \($0)" } ?? ""))
    }
}

extension ExitStatus {
    /// The exit status for a file or folder that cannot be used, by the system's error number.
    package init(errno number: Int32) {
        self =
            switch number {
            case EACCES, EPERM, EROFS: .permission
            case ENOENT, ENOTDIR: .notFound
            default: .failed
            }
    }
}

extension String {
    /// The name of a file in a message; that of standard input for `-`.
    package var fileName: String { self == "-" ? "standard input" : pathInWords }

    /// The path as shown in an error; a secret given in place of a file's name is not shown.
    package var pathInWords: String { isKeyMaterial ? "the file (a secret was given in place of its name)" : printable }

    /// Whether a text is a secret rather than the name of a file: a key in hexadecimal, a secret in base 32, a URI or
    /// PEM block that contains one, or an identity of age.
    package var isKeyMaterial: Bool {
        let start = prefix(32).lowercased()
        if contains("-----BEGIN ") || contains("\n") { return true }
        if ["otpauth:", "otpauth-migration:", "age-secret-key-", "age-plugin-"].contains(where: start.hasPrefix) {
            return true
        }
        let symbols = utf8.filter { ![0x20, 0x2D, 0x3A, 0x3D].contains($0) }.map { Character(Unicode.Scalar($0)) }
        if symbols.count >= 32, symbols.allSatisfy(\.isHexDigit) { return true }
        guard symbols.count >= 16 else { return false }
        let letters = symbols.filter { !("2"..."7").contains($0) }
        if letters.allSatisfy({ ("A"..."Z").contains($0) }) { return true }
        // A word without digits may well be the name of a file.
        return letters.count < symbols.count && letters.allSatisfy { ("a"..."z").contains($0) }
    }
}

extension UDevRule {
    /// The commands that install the rules and apply them to all nodes, for the user to type.
    package static let commands = [
        "ykit udev-rules | sudo tee \(folder)\(file) > /dev/null",
        "sudo udevadm control --reload && sudo udevadm trigger --subsystem-match=usb --subsystem-match=hidraw",
    ]
}
