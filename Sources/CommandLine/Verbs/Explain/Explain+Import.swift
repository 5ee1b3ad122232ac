// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHardware
package import YKKeys
package import YKOATH
import YKWire

extension Explain {
    /// Explains why no QR code was read.
    ///
    /// - Parameter name: The image.
    package static func qr(_ error: QRError, in name: String = "the picture") -> Explanation {
        switch error {
        case .noCode:
            Explanation(
                "no-qr-code", .notFound, "no QR code was found in \(name)",
                hint: "cut the picture to the code, with a white margin around it")
        case .unreadable:
            malformed(
                "\(name) is a picture that cannot be read: it is damaged or cut off", hint: "save it again as PNG")
        case .noReader(let program):
            Explanation(
                "no-zbar", .failed, "reading QR codes needs \(program), which is not on this machine",
                hint: "sudo apt install zbar-tools")
        case .program(ProgramError.timedOut(_)):
            Explanation(
                "no-qr-code", .timeOut, "no QR code was found in \(name) in time",
                hint: "cut the picture to the code, with a white margin around it")
        case .program(let error): program(error)
        }
    }

    /// Explains why a source of accounts could not be read.
    ///
    /// - Parameter name: The file.
    package static func imported(_ error: ImportError, from name: String = "this") -> Explanation {
        switch error {
        case .unrecognized(let kind): unrecognized(kind, name)
        case .empty(nil): malformed("\(name) holds no account")
        case .empty(let format?): malformed("\(name), an export of \(format.rawValue), holds no account")
        case .image(let error): qr(error, in: name)
        case .container(let error): pskc(error)
        case .export(let error): export(error, name)
        }
    }

    private static func unrecognized(_ kind: FileKind, _ name: String) -> Explanation {
        let isNamedPicture = [".png", ".jpg", ".jpeg"].contains { name.lowercased().hasSuffix($0) }
        if kind.isPicture {
            let words = "\(name) is a picture in the format \(kind.rawValue)"
            return isNamedPicture
                ? malformed("\(words), whatever its name, and cannot be read", hint: "save it again as PNG")
                : malformed("\(words); QR codes are read from PNG and JPEG", hint: "save it as PNG")
        }
        switch kind {
        case .text where isNamedPicture, .binary where isNamedPicture:
            return malformed("\(name) is a picture that cannot be read: it is damaged", hint: "save it again as PNG")
        case .damagedJSON:
            return malformed("\(name) is JSON that ends early or is damaged", hint: "export it again")
        case .pdf:
            return malformed("\(name) is a PDF document", hint: "save the page with the QR code as PNG")
        case .binary:
            return malformed(
                "\(name) is not a file that ykit knows",
                hint: "\(knownFormats); a backup of andOTP before 0.6.3 has no mark: give its password with "
                    + "--file-password-stdin")
        case .text:
            return malformed("\(name) has no otpauth URI, and is not an export that ykit knows", hint: knownFormats)
        default:
            return malformed("\(name) is \(kind.rawValue), but not an export that ykit knows", hint: knownFormats)
        }
    }

    private static let knownFormats =
        "known are lines of otpauth URIs, pictures with QR codes (PNG, JPEG), PSKC, and the exports of "
        + AuthenticatorExport.Format.allCases.map(\.rawValue).listed()

    /// Explains that QR codes of a Google Authenticator export are missing.
    package static func incomplete(_ gap: MigrationPart.Gap) -> Explanation {
        let numbers = gap.missing.map { "\($0)" }
        let missing = [numbers.dropLast().map { $0 }.listed(), numbers.last ?? ""].filter { !$0.isEmpty }
            .listed(by: " and ")
        return Explanation(
            "incomplete", .notFound,
            "the Google Authenticator export has \(gap.count) QR codes, of which \(missing) "
                + (gap.missing.count == 1 ? "is missing" : "are missing"),
            hint: "import the others too: ykit oath import FILE")
    }

    /// Explains why an account of a source cannot be used.
    package static func fault(_ fault: ImportFault) -> Explanation {
        switch fault {
        case .uri(let error): unusable(error)
        case .migration(let error): oath(.invalidMigration(error))
        case .container(let error): pskc(error)
        case .exported(let error) where error.reason == .twoStep: unusable(error)
        case .exported(let error): malformed("a key cannot hold this account: \(error)")
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
            "\(format.rawValue) export \(name), " + (label.isEmpty ? "entry \(number)" : "'\(label.printable)'")
        }
    }
}

extension QRReader {
    /// The reader that ^C ends.
    package static var interruptible: QRReader { QRReader(cancellation: Interruption.cancellation) }

    /// Returns the texts of all QR codes in an image.
    package func texts(in image: [UInt8], _ name: String) throws(Explanation) -> [String] {
        do { return try texts(in: image) } catch { throw Explain.qr(error, in: name) }
    }

    /// Returns the text of the first QR code that is held before the camera, for which there is a minute.
    package func seen(_ terminal: Terminal) throws(Explanation) -> String {
        terminal.say("hold the QR code before the camera, ^C to cancel")
        do { return try seen() } catch .noCode {
            throw Explanation(
                "no-qr-code", .notFound, "the camera has shown no QR code",
                hint: "is there a camera, and may you use it (group video)? a picture does as well: --qr FILE")
        } catch { throw Explain.qr(error) }
    }
}
