// SPDX-License-Identifier: Apache-2.0

import TerminalIO
import YKKeys
import YKOATH
import YKWire

extension MigrationPart.Gap {
    /// Explains that QR codes of a Google Authenticator export are missing.
    var explanation: Explanation {
        let numbers = missing.map { "\($0)" }
        let listed = [numbers.dropLast().map { $0 }.listed(), numbers.last ?? ""].filter { !$0.isEmpty }
            .listed(by: " and ")
        return Explanation(
            "incomplete", .notFound,
            "the Google Authenticator export has \(count) QR codes, of which \(listed) "
                + (missing.count == 1 ? "is missing" : "are missing"),
            hint: "import the others too: ykit oath import FILE")
    }
}

extension ImportSource.Origin {
    /// The place in a file.
    func words(in name: String) -> String {
        switch self {
        case .whole: name
        case .entry(let number): "\(name), entry \(number)"
        case .key(let id): "\(name), key \(id.printable)"
        case .exported(let format, let number, let label):
            "\(format.name) export \(name), " + (label.isEmpty ? "entry \(number)" : "'\(label.printable)'")
        case .file(let file, let origin): origin.words(in: "\(name), \(file.printable)")
        }
    }
}

extension ImportSource.Note {
    /// What is not among the accounts of a file.
    func words(in name: String) -> String {
        switch self {
        case .otherFiles(let files):
            let shown = files.prefix(5).map { "'\($0.printable)'" }.listed()
            let more = files.count > 5 ? " and \(files.count - 5) more" : ""
            return "no accounts in these files of \(name): \(shown)\(more)"
        case .otherCode(let kind): return "skipped a QR code in \(name) that is not an account (\(kind.rawValue))"
        case .uncertainText(let text):
            return "a QR code in \(name) is not UTF-8, so check the name: \(text.printable)"
        }
    }
}
