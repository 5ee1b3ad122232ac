// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKHardware
package import YKKeys
import YKOATH

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
