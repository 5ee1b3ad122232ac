// SPDX-License-Identifier: Apache-2.0

import YKKeys
import YKOATH

extension Explain {
    /// Explains why no QR code was read.
    ///
    /// - Parameter name: The image.
    static func qr(_ error: QRError, in name: String = "the picture") -> Explanation {
        switch error {
        case .noCode:
            Explanation(
                "no-qr-code", .notFound, "no QR code was found in \(name)",
                hint: "cut the picture to the code, with a white margin around it")
        case .noReader(let program):
            Explanation(
                "no-zbar", .failed, "reading QR codes needs \(program), which is not on this machine",
                hint: "sudo apt install zbar-tools")
        case .program(let error): program(error)
        }
    }

    /// Explains why a source of accounts could not be read.
    ///
    /// - Parameter name: The file.
    static func imported(_ error: ImportError, from name: String = "this") -> Explanation {
        switch error {
        case .unrecognized:
            malformed(
                "\(name) is neither a text with otpauth URIs, nor a PNG or JPEG image, nor a key container, nor the "
                    + "export of another authenticator")
        case .empty(nil): malformed("\(name) holds no account")
        case .empty(let format?): malformed("\(name), an export of \(format.rawValue), holds no account")
        case .image(let error): qr(error, in: name)
        case .container(let error): pskc(error)
        case .export(let error): export(error, name)
        }
    }

    /// Explains why an account of a source cannot be used.
    static func fault(_ fault: ImportFault) -> Explanation {
        switch fault {
        case .uri(let error): oath(.invalidURI(error))
        case .migration(let error): oath(.invalidMigration(error))
        case .container(let error): pskc(error)
        case .exported(let error): malformed("a key cannot hold this account: \(error)")
        }
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
            "\(format.rawValue) export \(name), " + (label.isEmpty ? "entry \(number)" : "'\(label.printable)'")
        }
    }
}

extension QRReader {
    /// The reader that ^C ends.
    static var interruptible: QRReader { QRReader(cancellation: Interruption.cancellation) }

    /// Returns the texts of all QR codes in an image.
    func texts(in image: [UInt8], _ name: String) throws(Explanation) -> [String] {
        do { return try texts(in: image) } catch { throw Explain.qr(error, in: name) }
    }

    /// Returns the text of the first QR code that is held before the camera, for which there is a minute.
    func seen(_ terminal: Terminal) throws(Explanation) -> String {
        terminal.say("hold the QR code before the camera, ^C to cancel")
        do { return try seen() } catch .noCode {
            throw Explanation(
                "no-qr-code", .notFound, "the camera has shown no QR code",
                hint: "is there a camera, and may you use it (group video)? a picture does as well: --qr FILE")
        } catch { throw Explain.qr(error) }
    }
}
