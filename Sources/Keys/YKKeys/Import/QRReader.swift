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

    /// A hostile picture keeps zbarimg busy for minutes; a photograph takes it less than two seconds.
    private static let imageLimit = Duration.seconds(20)

    private let programs: ProgramRunner
    private let imagePrograms: ProgramRunner

    /// Creates a reader.
    ///
    /// - Parameter cancellation: Ends waiting for a code, which otherwise takes a minute at most before a camera, and
    ///   twenty seconds for a picture.
    public init(cancellation: Cancellation = Cancellation()) {
        programs = .system(cancellation)
        imagePrograms = .system(cancellation, limit: Self.imageLimit)
    }

    package init(_ programs: ProgramRunner) { (self.programs, imagePrograms) = (programs, programs) }

    /// Whether bytes are a PNG or JPEG image.
    public static func isImage(_ bytes: [UInt8]) -> Bool { bytes.starts(with: png) || bytes.starts(with: jpeg) }

    /// Returns the texts of all QR codes in a PNG or JPEG image, dark on light or light on dark.
    ///
    /// - Throws: `noCode`, `unreadable`, `noReader`, or `program`.
    public func texts(in image: [UInt8]) throws(QRError) -> [String] {
        let source = image.starts(with: Self.png) ? "PNG:-" : "JPEG:-"
        var result = try run(imagePrograms, "zbarimg", [source], input: image)
        defer { Secret.wipe(&result.output) }
        let lines = String(decoding: result.output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
        // 4 is "no code"; a picture that is cut off ends with 0 as well.
        guard result.status != 4 else { throw .noCode }
        guard result.status == 0, !lines.isEmpty else { throw .unreadable }
        if lines.allSatisfy({ $0.utf8.allSatisfy { $0 < 0x80 } }) { return lines }
        // zbar guesses the encoding of other characters, often Big5 or Shift JIS. The bytes of all codes have nothing
        // between them.
        var plain = try run(imagePrograms, "zbarimg", ["-Sbinary", source], input: image)
        defer { Secret.wipe(&plain.output) }
        return plain.status == 0 ? Self.split(plain.output, like: lines) : lines
    }

    /// Splits the bytes of all codes, with zbar's guess at each: ASCII characters before the first other one are right.
    static func split(_ bytes: [UInt8], like guesses: [String]) -> [String] {
        var rest = bytes[...]
        var texts: [String] = []
        for (index, guess) in guesses.enumerated() {
            rest = rest.drop { $0 == 0x0A || $0 == 0x0D }
            let head = Array(guess.utf8.prefix { $0 < 0x80 })
            guard rest.starts(with: head) else { return guesses }
            var size: Int? = rest.count
            if index + 1 < guesses.count {
                let next = Array(guesses[index + 1].utf8.prefix { $0 < 0x80 })
                let isASCII = head.count == guess.utf8.count
                size =
                    isASCII ? head.count : Self.place(of: next, in: rest.dropFirst(head.count)).map { head.count + $0 }
            }
            guard let size else { return guesses }
            texts.append(TextFile.decode(Array(rest.prefix(size))).map { $0.trimmed } ?? guess)
            rest = rest.dropFirst(size)
        }
        return texts
    }

    private static func place(of text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty, text.count <= bytes.count else { return nil }
        return (0...(bytes.count - text.count)).first { bytes.dropFirst($0).starts(with: text) }
    }

    /// Returns the text of the first QR code that is held before the camera within a minute.
    ///
    /// - Parameter showsPicture: Whether a window shows what the camera sees, by default on a desktop.
    /// - Throws: `noCode` without a camera too, `noReader`, or `program`.
    public func seen(showsPicture: Bool = QRReader.hasDisplay) throws(QRError) -> String {
        let options = ["--oneshot", "-Sbinary"] + (showsPicture ? [] : ["--nodisplay"])
        var result = try run(programs, "zbarcam", options)
        defer { Secret.wipe(&result.output) }
        let text = (TextFile.decode(result.output) ?? "").trimmed
        guard result.status == 0, !text.isEmpty else { throw .noCode }
        return text
    }

    /// Whether this is a desktop session.
    public static var hasDisplay: Bool { ["DISPLAY", "WAYLAND_DISPLAY"].contains { ProcessVariables[$0] != nil } }

    private func run(
        _ programs: ProgramRunner, _ name: String, _ arguments: [String], input: [UInt8] = []
    ) throws(QRError) -> ChildProcess.Ending {
        guard let program = programs.find(name) else { throw .noReader(name) }
        let common = ["--quiet", "--raw", "--nodbus", "-Sdisable", "-Sqrcode.enable", "-Stest-inverted"]
        do { return try programs.run(program, common + arguments, input, [:]) } catch { throw .program(error) }
    }
}

/// Why no QR code was read.
public enum QRError: Error, Hashable, Sendable {
    /// No code was found, or shown to the camera.
    case noCode
    /// The image is damaged.
    case unreadable
    /// This program of zbar-tools is not installed.
    case noReader(String)
    /// The program failed.
    case program(ProgramError)
}
