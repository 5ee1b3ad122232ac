// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// QR codes in an image, read by zbarimg. The image exists only in memory.
enum QRImage {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

    /// Whether bytes are a PNG or JPEG image.
    static func matches(_ bytes: [UInt8]) -> Bool { bytes.starts(with: png) || bytes.starts(with: jpeg) }

    /// Returns the texts of all QR codes in an image.
    static func texts(in bytes: [UInt8], _ name: String) throws(Explanation) -> [String] {
        guard let program = Spawn.find("zbarimg") else {
            throw Explanation(
                "no-zbar", .failed, "reading QR codes needs zbarimg, which is not on this machine",
                hint: "sudo apt install zbar-tools")
        }
        let format = bytes.starts(with: png) ? "PNG:-" : "JPEG:-"
        var result = try Spawn.run(
            program, ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable", format], input: bytes)
        defer { Secret.wipe(&result.output) }
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        guard result.status == 0, !lines.isEmpty else {
            throw Explanation(
                "no-qr-code", .notFound, "no QR code was found in \(name)",
                hint: "cut the picture to the code, with a white margin around it")
        }
        return lines
    }
}
