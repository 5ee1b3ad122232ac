// SPDX-License-Identifier: Apache-2.0

import YKWire

/// The kind of a file that contains no accounts, judged by its content.
public enum FileKind: String, Hashable, Sendable, CaseIterable {
    case json = "JSON"
    /// JSON that ends early, or is damaged.
    case damagedJSON = "damaged JSON"
    case csv = "CSV"
    case html = "HTML"
    case xml = "XML"
    case svg = "SVG"
    case gif = "GIF"
    case webP = "WebP"
    case tiff = "TIFF"
    case bmp = "BMP"
    case heif = "HEIF"
    case portableAnymap = "PNM"
    case pdf = "PDF"
    case text
    case binary

    /// Whether it is an image.
    public var isPicture: Bool { [.svg, .gif, .webP, .tiff, .bmp, .heif, .portableAnymap].contains(self) }

    /// Recognizes a file by its content.
    package init(_ bytes: [UInt8]) {
        let starts: [(String, FileKind)] = [
            ("GIF8", .gif), ("II*\0", .tiff), ("MM\0*", .tiff), ("%PDF-", .pdf), ("P6 ", .portableAnymap),
            ("P5 ", .portableAnymap), ("P6\n", .portableAnymap), ("P5\n", .portableAnymap),
        ]
        let known = starts.first { bytes.starts(with: $0.0.utf8) }?.1
        let text = TextFile.decode(bytes)
        self =
            known ?? Self.boxed(bytes) ?? text.map { Self.text($0) } ?? (bytes.starts(with: "BM".utf8) ? .bmp : .binary)
    }

    /// In WebP and HEIF the signature follows a length.
    private static func boxed(_ bytes: [UInt8]) -> FileKind? {
        let mark = bytes.dropFirst(8).prefix(4)
        if bytes.starts(with: "RIFF".utf8), mark.elementsEqual("WEBP".utf8) { return .webP }
        let isHEIF = ["heic", "heix", "mif1", "avif"].contains { mark.elementsEqual($0.utf8) }
        return bytes.dropFirst(4).starts(with: "ftyp".utf8) && isHEIF ? .heif : nil
    }

    private static func text(_ text: String) -> FileKind {
        let start = text.trimmed
        switch start.unicodeScalars.first {
        case "{", "[": return (try? JSONValue(repairing: Array(start.utf8))) == nil ? .damagedJSON : .json
        case "<":
            let head = String(start.prefix(1024)).lowercased()
            if head.contains(bytesOf: "<svg") { return .svg }
            return head.contains(bytesOf: "<html") || head.contains(bytesOf: "<!doctype html") ? .html : .xml
        default:
            let header = start.prefix { !$0.isNewline }
            return header.utf8.count { $0 == 0x2C || $0 == 0x3B || $0 == 0x09 } >= 2 ? .csv : .text
        }
    }
}
