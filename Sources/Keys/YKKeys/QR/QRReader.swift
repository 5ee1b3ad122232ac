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

    /// A hostile image can keep zbarimg busy for minutes; a photograph takes less than two seconds.
    private static let imageLimit = Duration.seconds(20)

    private let programs: ProgramRunner
    private let imagePrograms: ProgramRunner

    /// Creates a reader.
    ///
    /// - Parameter cancellation: Ends the wait for a code, which is otherwise limited to a minute for a camera and
    ///   twenty seconds for an image.
    public init(cancellation: Cancellation = Cancellation()) {
        programs = .system(cancellation)
        imagePrograms = .system(cancellation, limit: Self.imageLimit)
    }

    package init(_ programs: ProgramRunner) { (self.programs, imagePrograms) = (programs, programs) }

    /// Whether bytes are a PNG or JPEG image.
    public static func isImage(_ bytes: [UInt8]) -> Bool { bytes.starts(with: png) || bytes.starts(with: jpeg) }

    /// Returns the texts of all QR codes in a PNG or JPEG image, dark on light or light on dark, without white space at
    /// either end.
    ///
    /// - Throws: `notImage`, `noCode`, `unreadable`, `noReader`, or `program`.
    public func texts(in image: [UInt8]) throws(QRError) -> [String] {
        try payloads(in: image).map { ($0.text ?? String(decoding: $0.bytes, as: UTF8.self)).trimmed }
    }

    /// Returns the contents of all QR codes in a PNG or JPEG image, dark on light or light on dark.
    ///
    /// - Throws: `notImage`, `noCode`, `unreadable`, `noReader`, or `program`.
    public func payloads(in image: [UInt8]) throws(QRError) -> [QRPayload] {
        guard Self.isImage(image) else { throw .notImage(FileKind(image)) }
        let picture = image.starts(with: Self.png) ? GrayImage(png: image) : nil
        var found: [QRPayload] = []
        var failure: QRError?
        do throws(QRError) {
            let source = image.starts(with: Self.png) ? "PNG:-" : "JPEG:-"
            found = try payloads(in: image, source)
        } catch {
            guard error == .noCode, picture != nil else { throw error }
            failure = error
        }
        // zbar takes transparent pixels for black, and of a picture with codes of both kinds only those dark on light.
        for other in picture.map(Self.variants) ?? [] {
            var other = other
            defer { Secret.wipe(&other) }
            do throws(QRError) {
                found += try payloads(in: other, "PGM:-").filter { !found.contains($0) }
            } catch {
                if case .program = error, found.isEmpty { throw error }
            }
        }
        guard !found.isEmpty else { throw failure ?? .noCode }
        return found
    }

    /// The picture as it looks on white and on black, and with light and dark exchanged.
    private static func variants(_ picture: GrayImage) -> [[UInt8]] {
        picture.isTransparent
            ? [picture.graymap(), picture.graymap(background: 0)] : [picture.graymap(isInverted: true)]
    }

    private func payloads(in image: [UInt8], _ source: String) throws(QRError) -> [QRPayload] {
        var result = try run(imagePrograms, "zbarimg", ["--xml", source], input: image)
        defer { Secret.wipe(&result.output) }
        // 4 means "no code"; a truncated image ends with 0 as well.
        guard result.status != 4 else { throw .noCode }
        guard result.status == 0, let symbols = try? Symbol.all(in: result.output), !symbols.isEmpty else {
            throw .unreadable
        }
        if symbols.allSatisfy(\.isExact) { return symbols.map { QRPayload($0.bytes) } }
        // zbar guesses the encoding of other characters, often Big5 or Shift JIS. In the raw output nothing separates
        // the codes.
        var plain = try run(imagePrograms, "zbarimg", ["--raw", "-Sbinary", source], input: image)
        defer { Secret.wipe(&plain.output) }
        guard plain.status == 0, let payloads = Self.split(plain.output, like: symbols) else { throw .unreadable }
        return payloads.map { QRPayload($0) }
    }

    /// A code in zbar's XML.
    struct Symbol {
        /// The bytes, reliable only up to the first that is not ASCII.
        let bytes: [UInt8]
        /// Whether all bytes are reliable. XML parsers change line breaks.
        var isExact: Bool { bytes.allSatisfy { $0 < 0x80 && $0 != 0x0A } }
        var head: [UInt8] { Array(bytes.prefix { $0 < 0x80 && $0 != 0x0A }) }

        static func all(in xml: [UInt8]) throws(WireError) -> [Symbol] {
            var symbols: [Symbol] = []
            for source in try XMLParser.parse(xml).all("source") {
                for symbol in source.all("index").flatMap({ $0.all("symbol") }) {
                    guard let data = symbol.first("data") else { continue }
                    let isEncoded = data.attributes["format"] == "base64"
                    let encoded = data.text.filter { !$0.isWhitespace }
                    symbols.append(Symbol(bytes: isEncoded ? try Base64.decode(encoded) : Array(data.text.utf8)))
                }
            }
            return symbols
        }
    }

    /// Splits the concatenated bytes of all codes; `nil` if that is ambiguous.
    static func split(_ bytes: [UInt8], like symbols: [Symbol]) -> [[UInt8]]? {
        var rest = bytes[...]
        var payloads: [[UInt8]] = []
        for (index, symbol) in symbols.enumerated() {
            guard rest.starts(with: symbol.head) else { return nil }
            var size: Int? = rest.count
            if index + 1 < symbols.count {
                let next = symbols[index + 1].head
                size =
                    symbol.isExact
                    ? symbol.bytes.count
                    : Self.place(of: next, in: rest.dropFirst(symbol.head.count)).map { symbol.head.count + $0 }
            }
            guard let size else { return nil }
            payloads.append(Array(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return payloads
    }

    private static func place(of text: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
        guard !text.isEmpty, text.count <= bytes.count else { return nil }
        return (0...(bytes.count - text.count)).first { bytes.dropFirst($0).starts(with: text) }
    }

    /// Returns the text of the first QR code that is held before the camera within a minute.
    ///
    /// - Parameter showsPicture: Whether a window shows what the camera sees.
    /// - Throws: `noCode` without a camera too, `noReader`, or `program`.
    public func seen(showsPicture: Bool = false) throws(QRError) -> String {
        let options = ["--raw", "--oneshot", "-Sbinary"] + (showsPicture ? [] : ["--nodisplay"])
        var result = try run(programs, "zbarcam", options)
        defer { Secret.wipe(&result.output) }
        let text = (TextFile.decode(result.output) ?? "").trimmed
        guard result.status == 0, !text.isEmpty else { throw .noCode }
        return text
    }

    private func run(
        _ programs: ProgramRunner, _ name: String, _ arguments: [String], input: [UInt8] = []
    ) throws(QRError) -> ChildProcess.Ending {
        guard let program = programs.find(name) else { throw .noReader(name) }
        let common = ["--quiet", "--nodbus", "-Sdisable", "-Sqrcode.enable", "-Stest-inverted"]
        do { return try programs.run(program, common + arguments, input, [:]) } catch { throw .program(error) }
    }
}

/// Why no QR code was read.
public enum QRError: Error, Hashable, Sendable {
    /// The file is of this kind, not a PNG or JPEG image.
    case notImage(FileKind)
    /// No code was found, or none was shown to the camera.
    case noCode
    /// The image is damaged.
    case unreadable
    /// This program of zbar-tools is not installed.
    case noReader(String)
    /// The program failed.
    case program(ProgramError)
}
