// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKWire

@testable import YKHardware
@testable import YKKeys

/// Sources of accounts, and QR codes with any content.
@Suite struct ImportTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private static let uri = "otpauth://totp/Acme:alice?secret=GEZDGNBVGY3TQOJQ&issuer=Acme"

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

    private func items(
        _ bytes: [UInt8], codes: QRReader = QRReader(FakePrograms([:]).runner), password: String = "test-password"
    ) throws -> [ImportSource.Item] {
        try ImportSource(bytes, codes: codes).items(
            unlocking: { protection in
                expect(protection, is: .passphrase)
                return .passphrase(SharedSecret(Secret(utf8: password)))
            }, password: { _ in Secret(utf8: password) })
    }

    private func items(_ text: String) throws -> [ImportSource.Item] { try items(Array(text.utf8)) }

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

    @Test("all exports of an archive, and what is left out of it and of a picture")
    func archives() throws {
        var notes: [ImportSource.Note] = []
        func read(_ bytes: [UInt8], _ codes: QRReader = QRReader(FakePrograms([:]).runner)) throws -> [String] {
            notes = []
            let items = try ImportSource(bytes, codes: codes).items(
                unlocking: { _ in nil }, password: { _ in Secret([]) }, noting: { notes.append($0) })
            return items.map { (try? $0.account.get().id.text) ?? "\($0.origin)" }
        }
        let both = Recordings.fixture("cases/codes/zip-of-two-exports/both.zip")
        #expect(try read(both) == ["GitHub:bob", "Shop:eve"] && notes.isEmpty)
        #expect(throws: ExportError.self) { try AuthenticatorExport.recognize(both) }
        let (reader, _) = reader(["https://example.com", Self.uri])
        #expect(try read(Self.png, reader) == ["Acme:alice"] && notes == [.otherCode(.web)])
        let quoted = Array("\"\(Self.uri)\"\n<\(Self.uri)>\n".utf8)
        try expect(read(quoted), is: ["Acme:alice", "Acme:alice"])
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

    @Test("what has no accounts is told by its content")
    func kinds() throws {
        let files: [(String, FileKind)] = [
            ("{}", .json), ("[1,2", .damagedJSON), ("a,b,c\n1,2,3\n", .csv), ("<!DOCTYPE html><p>", .html),
            ("<html>", .html), ("<svg xmlns=\"http://x\">", .svg), ("<?xml version=\"1.0\"?><svg>", .svg),
            ("<a/>", .xml),
            ("GIF89a", .gif), ("RIFF0000WEBPVP8 ", .webP), ("%PDF-1.4", .pdf), ("P6 garbage", .portableAnymap),
            ("0000ftypheic", .heif), ("import sys\nprint(1)", .text), ("hunter2", .text),
        ]
        for (text, kind) in files {
            #expect(throws: ImportError.unrecognized(kind), "\(text)") { try items(text) }
        }
        #expect(throws: ImportError.unrecognized(.binary)) {
            try items([0x80, 0, 1, 2] + [UInt8](repeating: 7, count: 99))
        }
    }

    @Test("lines of URIs, with what is wrong with each")
    func lines() throws {
        let one = try items(Self.uri)
        expect(one.map(\.origin), is: [.whole])
        try expect(one[0].account.get().id, is: OATHAccountID(issuer: "Acme", name: "alice"))
        #expect(throws: ImportError.unrecognized(.text)) { try items("https://example.com\nnothing") }
        let several = try items("# comment\n\(Self.uri)\n\notpauth://totp/x\nhttps://example.com\n")
        expect(several.map(\.origin), is: [.entry(1), .entry(2), .entry(3)])
        #expect(throws: ImportFault.uri(OtpauthError(.secret, .missing))) { try several[1].account.get() }
        #expect(throws: ImportFault.uri(OtpauthError(.scheme, .notUnderstood("https")))) {
            try several[2].account.get()
        }
        let migration = try items(
            "otpauth-migration://offline?data=CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VAZ29vZ2xlLmNvbRoHRXhhbXBsZTAC")
        try expect(migration.map { try $0.account.get().id.name }, is: ["alice@google.com"])
        #expect(throws: ImportFault.self) { try items("otpauth-migration://offline?data=!").first?.account.get() }
    }

    @Test func picturesOfAccounts() throws {
        let found = try items(Self.png, codes: reader([Self.uri, Self.uri + "2"]).0)
        expect(found.map(\.origin), is: [.entry(1), .entry(2)])
        #expect(throws: ImportError.image(.noCode)) { try items(Self.png, codes: reader([], status: 4).0) }
        #expect(throws: ImportError.image(.noReader("zbarimg"))) { try items(Self.png) }
    }

    @Test func whatHoldsNoAccount() {
        #expect(throws: ImportError.empty(nil)) { try items("\n# nothing\n") }
        #expect(throws: ImportError.unrecognized(.binary)) { try items([0xC0, 0x81]) }
        #expect(throws: ImportError.self) { try items([0x03, 0xD9, 0xA2, 0x9A]) }
    }

    @Test("an export with its password, or another's")
    func exports() throws {
        let expected = try JSONValue(parsing: Recordings.fixture("exports/expected.json"))
        let name = try #require(
            expected.object?.members.first { $0.key.hasPrefix("aegis") && $0.value["password"]?.string != nil }?.key)
        let bytes = Recordings.fixture("exports/\(name)")
        let found = try items(bytes)
        expect(found.count, is: expected[name]?["accounts"]?.array?.count)
        guard case .exported(.aegis, 1, let label) = found[0].origin else {
            Issue.record("\(found[0].origin)")
            return
        }
        #expect(!label.isEmpty)
        #expect(throws: ImportError.export(.wrongPassword(.aegis))) { try items(bytes, password: "wrong") }
    }

    @Test("a key container with its passphrase, or another")
    func containers() throws {
        let account = NewOATHAccount(
            id: OATHAccountID(issuer: "Acme", name: "alice"), secret: Secret(utf8: "12345678901234567890"))
        let file = try PSKC.write(
            [account], locking: .passphrase(SharedSecret(Secret(utf8: "test-password"))), random: SystemRandom())
        let found = try items(file)
        try expect(found.map { try $0.account.get().id.name }, is: ["alice"])
        guard case .key? = found.first?.origin else {
            Issue.record("no key")
            return
        }
        #expect(throws: ImportError.container(.wrongKey)) { try items(file, password: "wrong") }
    }
}
