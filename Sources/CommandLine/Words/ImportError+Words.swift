// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHardware
package import YKImport
package import YKKeys
import YKOATH
import YKWire

extension QRError: Explained {
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let name = subject?.text ?? "the picture"
        return switch self {
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
    package var explanation: Explanation { explanation(concerning: nil) }

    package func explanation(concerning subject: Subject?) -> Explanation {
        let name = subject?.text ?? "this"
        return switch self {
        case .unrecognized(let kind): kind.explanation(of: name)
        case .empty(nil): .malformed("\(name) has no accounts")
        case .empty(let format?): .malformed("\(name), an export of \(format.name), has no accounts")
        case .image(let error): error.explanation(concerning: .file(name))
        case .container(let error): error.explanation
        case .export(let error): error.explanation(in: name)
        }
    }
}

extension ExportError {
    /// Explains why another authenticator's export file cannot be read.
    fileprivate func explanation(in name: String) -> Explanation {
        switch self {
        case .malformed(let format, let what):
            .malformed(
                "\(name) is an export of \(format.name), but cannot be read: \(what)", hint: "export it again")
        case .unreadable(let kind, let advice):
            Explanation(
                "export-unsupported", .notSupported, "\(name) is a \(kind), which ykit cannot read", hint: advice)
        case .needsColumn(let columns):
            Explanation(
                "column-missing", .usage,
                "\(name) is a table, and --column must name the column with the otpauth URIs or secrets; found: "
                    + columns.map { "\($0.title.printable) (\($0.contents))" }.listed(),
                hint: columns.first.map { "--column \($0.argument)" })
        case .noSuchColumn(let column, []):
            .usage("\(name) is not a table with otpauth URIs or secrets in a column '\(column.printable)'")
        case .noSuchColumn(let column, let columns):
            .usage(
                "\(name) has no otpauth URIs or secrets in a column '\(column.printable)'; it has them in: "
                    + columns.map(\.title.printable).listed())
        case .needsPassword(let format):
            Explanation("file-locked", .authentication, "\(name), an export of \(format.name), is encrypted")
        case .wrongPassword(.andOTP):
            Explanation(
                "file-password-wrong", .authentication,
                "the password of \(name) is wrong, or the file is not an encrypted andOTP backup (such a backup has no header)"
            )
        case .wrongPassword(let format):
            Explanation(
                "file-password-wrong", .authentication,
                "the password of \(name), an export of \(format.name), is wrong, or the file was modified")
        case .tooExpensive(let format):
            .malformed(
                "\(name), an export of \(format.name), requires more than 1 GiB of memory or 20 seconds to check its password",
                hint: "export it again with the usual settings")
        case .damagedArchive(let what):
            .malformed("\(name) is a ZIP archive, but cannot be read: \(what)", hint: "export it again")
        case .cancelled: .interrupted
        case .missingLibrary(let format, let library):
            Explanation(
                "library-missing", .failed, "reading this export of \(format.name) needs \(library)",
                hint: library.hasPrefix("libsodium")
                    ? "sudo apt-get install libsodium23" : "sudo apt-get install libargon2-1")
        }
    }
}

extension AuthenticatorExport.Column {
    /// Its name or number, as an argument for `--column`.
    fileprivate var argument: String {
        let isPlain = !name.isEmpty && name.utf8.allSatisfy { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
        return isPlain ? name : "\(number)"
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
        case .json, .csv, .html, .xml, .svg, .gif, .webP, .tiff, .bmp, .heif, .portableAnymap:
            return .malformed("\(name) is \(rawValue), but not an export that ykit can read", hint: Self.knownFormats)
        }
    }

    private static let knownFormats = "'ykit help formats' lists what can be imported"
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
