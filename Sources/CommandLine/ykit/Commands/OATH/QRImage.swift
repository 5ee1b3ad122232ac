// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// QR codes in an image, read by zbarimg, or before a camera, read by zbarcam. The image exists only in memory.
enum QRImage {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Whether bytes are a PNG or JPEG image.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes.starts(with: png) || bytes.starts(with: jpeg) }

    /// Returns the texts of all QR codes in an image.
    static func texts(in bytes: [UInt8], _ name: String) throws(Explanation) -> [String] {
        var result = try run("zbarimg", [bytes.starts(with: png) ? "PNG:-" : "JPEG:-"], input: bytes)
        defer { Secret.wipe(&result.output) }
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        guard result.status == 0, !lines.isEmpty else {
            throw Explanation(
                "no-qr-code", .notFound, "no QR code was found in \(name)",
                hint: "cut the picture to the code, with a white margin around it")
        }
        return lines
    }

    /// Returns the text of the first QR code that is held before the camera, for which there is a minute.
    static func seen(_ terminal: Terminal) throws(Explanation) -> String {
        terminal.say("hold the QR code before the camera, ^C to cancel")
        let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { Variables[$0] != nil }
        var result = try run("zbarcam", ["--oneshot"] + (hasDisplay ? [] : ["--nodisplay"]))
        defer { Secret.wipe(&result.output) }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard result.status == 0, !text.isEmpty else {
            throw Explanation(
                "no-qr-code", .notFound, "the camera has shown no QR code",
                hint: "is there a camera, and may you use it (group video)? a picture does as well: --qr FILE")
        }
        return text
    }

    private static func run(
        _ name: String, _ arguments: [String], input: [UInt8] = []
    ) throws(Explanation) -> Spawn.Result {
        guard let program = Spawn.find(name) else {
            throw Explanation(
                "no-zbar", .failed, "reading QR codes needs \(name), which is not on this machine",
                hint: "sudo apt install zbar-tools")
        }
        let common = ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable"]
        return try Spawn.run(program, common + arguments, input: input)
    }
}
