// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHardware
package import YKKeys
package import YKOATH
import YKWire

extension QRError: Explained {
    package var explanation: Explanation { explanation(in: "the picture") }

    /// Explains why no QR code was read.
    ///
    /// - Parameter name: The image.
    package func explanation(in name: String) -> Explanation {
        switch self {
        case .notImage(let kind) where kind.isPicture: kind.explanation(of: name)
        case .notImage:
            .malformed("\(name) is not a picture; QR codes are read from PNG and JPEG", hint: "save it as PNG")
        case .noCode:
            Explanation(
                "no-qr-code", .notFound, "no QR code was found in \(name)",
                hint: "crop the picture to the code, with a white margin around it")
        case .unreadable:
            .malformed(
                "\(name) is a picture that cannot be read: it is damaged or truncated", hint: "save it again as PNG")
        case .noReader(let program):
            Explanation(
                "no-zbar", .failed, "reading QR codes requires \(program), which is not installed",
                hint: "sudo apt install zbar-tools")
        case .program(ProgramError.timedOut(_)):
            Explanation(
                "no-qr-code", .timeOut, "no QR code was found in \(name) within the time limit",
                hint: "crop the picture to the code, with a white margin around it")
        case .program(let error): error.explanation
        }
    }
}

extension ImportError: Explained {
    package var explanation: Explanation { explanation(in: "this") }

    /// Explains why a source of accounts could not be read.
    ///
    /// - Parameter name: The file.
    package func explanation(in name: String) -> Explanation {
        switch self {
        case .unrecognized(let kind): kind.explanation(of: name)
        case .empty(nil): .malformed("\(name) has no accounts")
        case .empty(let format?): .malformed("\(name), an export of \(format.name), has no accounts")
        case .image(let error): error.explanation(in: name)
        case .container(let error): error.explanation
        case .export(let error): error.explanation(in: name)
        }
    }
}

extension FileKind {
    fileprivate func explanation(of name: String) -> Explanation {
        let isNamedPicture = [".png", ".jpg", ".jpeg"].contains { name.lowercased().hasSuffix($0) }
        if isPicture {
            let words = "\(name) is a picture in the format \(rawValue)"
            return isNamedPicture
                ? .malformed("\(words), whatever its name, and cannot be read", hint: "save it again as PNG")
                : .malformed("\(words); QR codes are read from PNG and JPEG", hint: "save it as PNG")
        }
        switch self {
        case .text where isNamedPicture, .binary where isNamedPicture:
            return .malformed("\(name) is a picture that cannot be read: it is damaged", hint: "save it again as PNG")
        case .damagedJSON:
            return .malformed("\(name) is JSON that is truncated or damaged", hint: "export it again")
        case .pdf:
            return .malformed("\(name) is a PDF document", hint: "save the page with the QR code as PNG")
        case .binary:
            return .malformed(
                "\(name) is not a file that ykit can read",
                hint: "\(Self.knownFormats); a backup of andOTP before 0.6.3 has no header: give its password with "
                    + "--file-password-stdin")
        case .text:
            return .malformed(
                "\(name) has no otpauth URI, and is not an export that ykit can read", hint: Self.knownFormats)
        default:
            return .malformed("\(name) is \(rawValue), but not an export that ykit can read", hint: Self.knownFormats)
        }
    }

    private static let knownFormats = "'ykit help formats' lists what can be imported"
}

extension MigrationPart.Gap {
    /// Explains that QR codes of a Google Authenticator export are missing.
    package var explanation: Explanation {
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

extension ImportFault: Explained {
    /// Explains why an account of a source cannot be used.
    package var explanation: Explanation {
        switch self {
        case .uri(let error): error.explanation
        case .migration(let error): error.explanation
        case .container(let error): error.explanation
        case .exported(let error) where error.reason == .twoStep: error.explanation
        case .exported(let error): .malformed("a key cannot hold this account: \(error)")
        case .unreadableFile(let error): error.explanation
        }
    }
}

extension ImportSource.Origin {
    /// The place in a file.
    package func words(in name: String) -> String {
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
    package func words(in name: String) -> String {
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
