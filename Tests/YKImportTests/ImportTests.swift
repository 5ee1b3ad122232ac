// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKHardware
import YKImport
import YKKeys
import YKOATH
import YKTestSupport
import YKTransport
import YKWire

/// Sources of accounts.
@Suite struct ImportTests {
    private static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3]
    private static let uri = "otpauth://totp/Acme:alice?secret=GEZDGNBVGY3TQOJQ&issuer=Acme"

    /// Reads these codes in every picture, as zbarimg would; without them, zbarimg is not installed.
    private static func reader(_ texts: [String]? = nil, status: Int32 = 0) -> QRReader {
        let symbols = (texts ?? []).map { "<symbol type='QR-Code'><data><![CDATA[\($0)]]></data></symbol>" }.joined()
        let xml = "<barcodes><source href='PNG:-'><index num='0'>\(symbols)</index></source></barcodes>"
        return QRReader(
            ProgramRunner(find: { texts == nil ? nil : "/bin/\($0)" }) { _, _, _, _ in
                ChildProcess.Ending(status: status, output: Array(xml.utf8))
            })
    }

    private func items(
        _ bytes: [UInt8], codes: QRReader = ImportTests.reader(), password: String = "test-password"
    ) throws -> [ImportSource.Item] {
        try ImportSource(bytes, codes: codes).items(
            unlocking: { protection in
                expect(protection, is: .passphrase)
                return .passphrase(SharedSecret(Secret(utf8: password)))
            }, password: { _ in Secret(utf8: password) })
    }

    private func items(_ text: String) throws -> [ImportSource.Item] { try items(Array(text.utf8)) }

    @Test("all exports of an archive, and what is left out of it and of a picture")
    func archives() throws {
        var notes: [ImportSource.Note] = []
        func read(_ bytes: [UInt8], _ codes: QRReader = ImportTests.reader()) throws -> [String] {
            notes = []
            let items = try ImportSource(bytes, codes: codes).items(
                unlocking: { _ in nil }, password: { _ in Secret([]) }, noting: { notes.append($0) })
            return items.map { (try? $0.account.get().id.text) ?? "\($0.origin)" }
        }
        let both = Recordings.fixture("cases/codes/zip-of-two-exports/both.zip")
        #expect(try read(both) == ["GitHub:bob", "Shop:eve"] && notes.isEmpty)
        #expect(throws: ExportError.self) { try AuthenticatorExport.recognize(both) }
        let reader = Self.reader(["https://example.com", Self.uri])
        #expect(try read(Self.png, reader) == ["Acme:alice"] && notes == [.otherCode(.web)])
        let quoted = Array("\"\(Self.uri)\"\n<\(Self.uri)>\n".utf8)
        try expect(read(quoted), is: ["Acme:alice", "Acme:alice"])
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
        let found = try items(Self.png, codes: Self.reader([Self.uri, Self.uri + "2"]))
        expect(found.map(\.origin), is: [.entry(1), .entry(2)])
        #expect(throws: ImportError.image(.noCode)) { try items(Self.png, codes: Self.reader([], status: 4)) }
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
