// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKTestSupport
import YKWire

@testable import YKHardware
@testable import YKKeys

/// QR codes with any content.
@Suite struct QRTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]

    /// zbar's XML of these codes.
    private static func xml(_ texts: [String]) -> [UInt8] {
        let symbols = texts.map { text in
            let isPlain = text.utf8.allSatisfy { $0 < 0x80 }
            let data =
                isPlain
                ? "<data><![CDATA[\(text)]]>"
                : "<data format='base64'><![CDATA[\n\(Base64.encode(Array(text.utf8)))\n]]>"
            return "<symbol type='QR-Code'>\(data)</data></symbol>\n"
        }
        let body = "<source href='PNG:-'>\n<index num='0'>\n\(symbols.joined())</index>\n</source>\n"
        return Array(
            "<barcodes xmlns='http://zbar.sourceforge.net/2008/barcode'>\n\(texts.isEmpty ? "" : body)</barcodes>".utf8)
    }

    private func reader(_ texts: [String], seen: String = "", status: Int32 = 0) -> (QRReader, FakePrograms) {
        let programs = FakePrograms([
            "zbarimg": { _, _ in ChildProcess.Ending(status: status, output: Self.xml(texts)) },
            "zbarcam": { _, _ in ChildProcess.Ending(status: status, output: Array(seen.utf8)) },
        ])
        return (QRReader(programs.runner), programs)
    }

    @Test("QR codes have any content; the image passes through standard input")
    func codes() throws {
        let (reader, programs) = reader(["https://example.com", "WIFI:S:net;;"])
        #expect(QRReader.isImage(Self.png) && QRReader.isImage([0xFF, 0xD8, 0xFF, 0]) && !QRReader.isImage([0x89]))
        try expect(reader.texts(in: Self.png), is: ["https://example.com", "WIFI:S:net;;"])
        expect(programs.run, is: ["zbarimg --quiet --nodbus -Sdisable -Sqrcode.enable -Stest-inverted --xml PNG:-"])
        let (camera, seen) = self.reader([], seen: " Größe \n")
        try expect(camera.seen(showsPicture: false), is: "Größe")
        expect(seen.run.first?.contains("--oneshot -Sbinary"), is: true)
        #expect(throws: QRError.unreadable) { try self.reader([]).0.texts(in: Self.png) }
        #expect(throws: QRError.unreadable) { try self.reader(["a"], status: 1).0.texts(in: Self.png) }
        #expect(throws: QRError.noCode) { try self.reader([], status: 4).0.texts(in: Self.png) }
        #expect(throws: QRError.noCode) { try self.reader([]).0.seen(showsPicture: true) }
        #expect(throws: QRError.notImage(.gif)) { try self.reader(["a"]).0.texts(in: Array("GIF89a".utf8)) }
        #expect(throws: QRError.noReader("zbarimg")) { try QRReader(FakePrograms([:]).runner).texts(in: Self.png) }
        let slow = FakePrograms(["zbarcam": { _, _ throws(ProgramError) in throw .cancelled }])
        #expect(throws: QRError.program(.cancelled)) { try QRReader(slow.runner).seen(showsPicture: true) }
    }

    @Test("of a picture with transparent pixels or codes of both kinds, variants are read as well")
    func variants() throws {
        for (name, wanted) in [("qr-transparent", ["b"]), ("qr-one-inverted", ["a", "b"]), ("qr-eci", ["a", "b"])] {
            let picture = Recordings.fixture("cases/codes/\(name)/qr.png")
            let programs = FakePrograms([
                "zbarimg": { _, input in
                    guard input.starts(with: Array("P5\n".utf8)) else {
                        return ChildProcess.Ending(status: wanted.count == 1 ? 4 : 0, output: Self.xml(["a"]))
                    }
                    // Width times height pixels, of which the corner is white or, in an inverted picture, black.
                    let head = String(decoding: input.prefix(20), as: UTF8.self).split(separator: "\n")
                    let size = head[1].split(separator: " ").compactMap { Int($0) }
                    #expect(head[2] == "255" && input.count == 9 + head[1].utf8.count - 1 + size[0] * size[1])
                    return ChildProcess.Ending(status: 0, output: Self.xml(["b"]))
                }
            ])
            try expect(QRReader(programs.runner).texts(in: picture), is: wanted, "\(name)")
        }
        #expect(GrayImage(png: Self.png) == nil && GrayImage(png: []) == nil)
        let eci = try #require(GrayImage(png: Recordings.fixture("cases/codes/qr-eci/qr.png")))
        #expect(eci.width == 222 && eci.height == 222 && !eci.isTransparent)
        #expect(eci.graymap().dropFirst(15).first == 255 && eci.graymap(isInverted: true).dropFirst(15).first == 0)
        for count in stride(from: 0, to: 400, by: 7) {
            var changed = Recordings.fixture("cases/codes/qr-transparent/qr.png")
            changed[count] ^= 0x21
            _ = GrayImage(png: changed)
            _ = GrayImage(png: Array(changed.prefix(count)))
        }
    }

    @Test("zbar's guess at the encoding of a text is replaced by its bytes")
    func encodings() throws {
        let bytes = Array("otpauth://totp/Größe?secret=AA".utf8)
        let programs = FakePrograms([
            "zbarimg": { arguments, _ in
                let isBinary = arguments.contains("-Sbinary")
                return ChildProcess.Ending(status: 0, output: isBinary ? bytes : Self.xml(["otpauth://totp/Gr繹"]))
            }
        ])
        try expect(QRReader(programs.runner).texts(in: Self.png), is: ["otpauth://totp/Größe?secret=AA"])
        func split(_ texts: [String], _ guesses: [String]) -> [String]? {
            QRReader.split(
                texts.flatMap { Array($0.utf8) }, like: guesses.map { QRReader.Symbol(bytes: Array($0.utf8)) }
            )?.map { String(decoding: $0, as: UTF8.self) }
        }
        let texts = ["otpauth://a", "otpauth://ü=1", "https://x", "B\nö", "otpauth://é"]
        expect(split(texts, ["otpauth://a", "otpauth://羹=1", "https://x", "B\n羹", "otpauth://矇"]), is: texts)
        expect(split(["ö", "ä"], ["繹", "瓣"]), is: nil)
        expect(split(["b"], ["x"]), is: nil)
    }

    @Test("a code of several lines is one, and bytes are kept")
    func payloads() throws {
        let card = Array("BEGIN:VCARD\r\nFN:Größe\r\nEND:VCARD\r\n".utf8)
        for bytes in [card, [0, 1, 0xFF, 0xFE]] {
            let programs = FakePrograms([
                "zbarimg": { arguments, _ in
                    let isBinary = arguments.contains("-Sbinary")
                    let guess = bytes == card ? "BEGIN:VCARD\nFN:Gr繹" : "瓣"
                    return ChildProcess.Ending(status: 0, output: isBinary ? bytes : Self.xml([guess]))
                }
            ])
            try expect(QRReader(programs.runner).payloads(in: Self.png).map(\.bytes), is: [bytes])
        }
    }

    @Test("what a code is for, and what of it is shown")
    func masked() {
        let codes: [(String, QRPayload.Kind, String?)] = [
            (
                "otpauth://totp/A:b?secret=GEZDGNBV&issuer=A&x=hunter2", .account,
                "otpauth://totp/A:b?secret=…&issuer=A&x=…"
            ),
            ("OTPAUTH://hotp/b?Secret=GEZDGNBV&counter=1", .account, "OTPAUTH://hotp/b?Secret=…&counter=1"),
            ("otpauth://totp/b", .account, "otpauth://totp/b"), ("steam://GEZDGNBV", .account, "steam:…"),
            ("otpauth-migration://offline?data=hunter2", .migration, "otpauth-migration:…"),
            ("com.rsa.securid.iphone://ctf?ctfData=2", .securID, "com.rsa.securid.iphone:…"),
            ("http://127.0.0.1/securid/ctf?ctfData=2", .securID, "http:…"), ("FIDO:/1234", .passkey, "FIDO:…"),
            ("tiqrenroll://https://x", .approval, "tiqrenroll:…"), ("pia://container?x", .approval, "pia:…"),
            ("WIFI:S:a;P:hunter2;;", .wifi, "WIFI:…"), ("https://example.com/a", .web, "https://example.com/a"),
            ("https://u:hunter2@example.com", .web, "https://…@example.com"),
            ("http://example.com/@a?q=hunter2", .web, "http://example.com/@a?…"),
            ("https://x#hunter2", .web, "https://x#…"),
            ("https:hunter2", .uri, "https:…"), ("mailto:a@b", .contact, "mailto:a@b"),
            ("bitcoin:1?a", .uri, "bitcoin:…"),
            ("hunter2", .text, nil), ("1:hunter2", .text, nil), (":", .text, nil), ("", .text, nil),
        ]
        for (text, kind, masked) in codes {
            let payload = QRPayload(Array(text.utf8))
            #expect(payload.kind == kind && payload.masked == masked && payload.text == text, "\(text)")
            expect(payload.mayHoldSecret, is: (kind != .contact && !(kind == .web && text == masked)), "\(text)")
        }
        let bytes = QRPayload([0, 1, 0xFF])
        #expect(bytes.kind == .binary && bytes.text == nil && bytes.masked == nil && bytes.mayHoldSecret)
    }
}
