// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKHardware
public import YKTransport
import YKWire

/// Reads QR codes with any content: in an image with zbarimg, or before a camera with zbarcam, both of the package
/// zbar-tools. The image exists only in memory.
public struct QRReader: Sendable {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF]

    private let programs: ProgramRunner

    /// Creates a reader.
    ///
    /// - Parameter cancellation: Ends waiting for a code, which otherwise takes a minute at most.
    public init(cancellation: Cancellation = Cancellation()) { programs = .system(cancellation) }

    package init(_ programs: ProgramRunner) { self.programs = programs }

    /// Whether bytes are a PNG or JPEG image.
    public static func isImage(_ bytes: [UInt8]) -> Bool { bytes.starts(with: png) || bytes.starts(with: jpeg) }

    /// Returns the texts of all QR codes in a PNG or JPEG image.
    ///
    /// - Throws: `noCode`, `noReader`, or `program`.
    public func texts(in image: [UInt8]) throws(QRError) -> [String] {
        var result = try run("zbarimg", [image.starts(with: Self.png) ? "PNG:-" : "JPEG:-"], input: image)
        defer { Secret.wipe(&result.output) }
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        guard result.status == 0, !lines.isEmpty else { throw .noCode }
        return lines
    }

    /// Returns the text of the first QR code that is held before the camera within a minute.
    ///
    /// - Parameter showsPicture: Whether a window shows what the camera sees, by default on a desktop.
    /// - Throws: `noCode` without a camera too, `noReader`, or `program`.
    public func seen(showsPicture: Bool = QRReader.hasDisplay) throws(QRError) -> String {
        var result = try run("zbarcam", ["--oneshot"] + (showsPicture ? [] : ["--nodisplay"]))
        defer { Secret.wipe(&result.output) }
        let text = String(decoding: result.output, as: UTF8.self).trimmed
        guard result.status == 0, !text.isEmpty else { throw .noCode }
        return text
    }

    /// Whether this is a desktop session.
    public static var hasDisplay: Bool { ["DISPLAY", "WAYLAND_DISPLAY"].contains { ProcessVariables[$0] != nil } }

    private func run(
        _ name: String, _ arguments: [String], input: [UInt8] = []
    ) throws(QRError) -> ChildProcess.Ending {
        guard let program = programs.find(name) else { throw .noReader(name) }
        let common = ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable"]
        do { return try programs.run(program, common + arguments, input) } catch { throw .program(error) }
    }
}

/// Why no QR code was read.
public enum QRError: Error, Hashable, Sendable {
    /// No code was found, or shown to the camera.
    case noCode
    /// This program of zbar-tools is not installed.
    case noReader(String)
    /// The program failed.
    case program(ProgramError)
}
