// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKImport
import YKOATH
import YKTestSupport
import YKWire

/// FreeOTP 2's backup, as `Tests/Peers/imports.py freeotp2` writes it, with 1,000 rounds.
@Suite struct FreeOTPTests {
    private static let backup = (try? Base64.decode(encoded)) ?? []
    private static let lines = [
        "Größe & Söhne | bob:büro | SHA256 8 60 s", "Counter Ltd | carol | SHA1 6 counter 42",
        "Steam | dave | SHA1 6 30 s Steam",
    ]

    /// The backup with a text of the same length in the place of another.
    private static func changed(_ text: String, to other: String) -> [UInt8] {
        expect(text.utf8.count, is: other.utf8.count)
        let (from, to) = (Array(text.utf8), Array(other.utf8))
        guard let place = backup.indices.first(where: { backup[$0...].starts(with: from) }) else {
            Issue.record("no '\(text)'")
            return []
        }
        return Array(backup[..<place]) + to + backup[(place + from.count)...]
    }

    private static func error(_ bytes: [UInt8]) -> ExportError? {
        do throws(ExportError) {
            _ = try AuthenticatorExport.recognize(bytes)?.entries(password: ExportSample.password)
            return nil
        } catch { return error }
    }

    @Test func tokens() throws {
        let found = try ExportSample(Self.backup).summary()
        #expect(found.format == .freeOTP && found.lines == Self.lines)
        try expect(ExportSample(Self.backup).secrets().last, is: "2c001cdcd187b03d906eaa627f5ebb154a78b01a")
        let export = try #require(try AuthenticatorExport.recognize(Self.backup))
        #expect(export.needsPassword)
        #expect(throws: ExportError.needsPassword(.freeOTP)) { try export.entries() }
        #expect(throws: ExportError.wrongPassword(.freeOTP)) {
            try export.entries(password: SharedSecret(Secret(utf8: "test-passwore")))
        }
    }

    /// The backup with another string, to which this many more keys refer.
    private static func referring(to text: String, _ references: Int) throws -> [UInt8] {
        let start = try #require(backup.indices.first { backup[$0...].starts(with: [0x77, 0x08]) }) + 6
        let count = backup[start..<(start + 4)].reduce(0) { $0 << 8 | Int($1) }
        func number(_ value: Int, _ size: Int) -> [UInt8] {
            (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
        }
        func key(_ text: String) -> [UInt8] { [0x74] + number(text.utf8.count, 2) + Array(text.utf8) }
        var bytes = Array(backup[..<start]) + number(count + 1 + references, 4) + backup[(start + 4)...].dropLast()
        bytes += key("shared") + [0x7C] + number(text.utf8.count, 8) + Array(text.utf8)
        for index in 0..<references { bytes += key("k\(index)") + [0x71] + number(0x7E_0002 + 2 * count + 1, 4) }
        return bytes + [0x78]
    }

    @Test("a string that many keys refer to is read once, and a small file does not become a large one")
    func references() throws {
        let few = try Self.referring(to: #"{"key":"x"}"#, 1000)
        let entries = try AuthenticatorExport.recognize(few)?.entries(password: ExportSample.password)
        expect(entries?.count, is: Self.lines.count + 1001)
        let large = #"{"key":"x","z":["# + String(repeating: "0,", count: 100_000) + "0]}"
        expect(Self.error(try Self.referring(to: large, 100)), is: .malformed(.freeOTP, "the map of strings"))
    }

    @Test func damaged() {
        for count in stride(from: 4, to: Self.backup.count, by: 41) {
            #expect(throws: (any Error).self, "\(count)") {
                _ = try #require(try AuthenticatorExport.recognize(Array(Self.backup.prefix(count))))
            }
        }
        expect(Self.error(Self.backup + [0]), is: .malformed(.freeOTP, "the map of strings"))
        expect(Self.error(Self.backup.dropLast() + [0x70]), is: .malformed(.freeOTP, "the map of strings"))
        let other = "file of serialized Java objects"
        for bytes in [
            Self.changed("java.util.HashMap", to: "java.util.HashSet"),
            [0xAC, 0xED, 0, 5] + [UInt8](repeating: 0x70, count: 99),
        ] {
            guard case .unreadable(other, _)? = Self.error(bytes) else {
                Issue.record("\(bytes.prefix(40))")
                continue
            }
        }
        // A count of 2^32 - 1 entries, and a string of 2^63 - 1 bytes.
        let head = Array(Self.backup.prefix(81))
        expect(head.suffix(4), is: [0, 0, 0, 7])
        let many = Array(head.dropLast(4)) + [0xFF, 0xFF, 0xFF, 0xFF] + Self.backup.dropFirst(81)
        #expect(Self.error(many) != nil)
        let long = head + [0x7C, 0x7F] + [UInt8](repeating: 0xFF, count: 7) + [0x61]
        expect(Self.error(long), is: .malformed(.freeOTP, "the map of strings"))
        // A reference to a string that comes later, an invalid character, a repeated key.
        for string in [
            [0x71, 0, 0x7E, 0, 9], [0x74, 0, 1, 0xFF], [0x74, 0, 2, 0xC3, 0x28], [0x74, 0, 3, 0xED, 0xA0, 0x80],
        ] as [[UInt8]] {
            #expect(Self.error(head + string) != nil)
        }
        let pair: [UInt8] = [0x74, 0, 1, 0x61, 0x71, 0, 0x7E, 0, 2]
        expect(Self.error(head + pair + pair), is: .malformed(.freeOTP, "the map of strings"))
    }

    @Test func keyDerivationIsBounded() {
        let rounds = #""mIterations": 1000"#
        for (other, error) in [
            (#""mIterations":-1000"#, ExportError.malformed(.freeOTP, "the parameters of the key derivation")),
            (#""mIterations":   0 "#, .malformed(.freeOTP, "the parameters of the key derivation")),
            (#""mIterations":  1.5"#, .malformed(.freeOTP, "mSalt, mIterations")),
            (#""mIterations": 1e99"#, .malformed(.freeOTP, "mSalt, mIterations")),
        ] {
            expect(Self.error(Self.changed(rounds, to: other)), is: error, "\(other)")
        }
        // The spaces of JSON make room for more digits.
        let long = Array(#""mIterations": 1000, "mSalt": ["#.utf8)
        let place = Self.backup.indices.first { Self.backup[$0...].starts(with: long) } ?? 0
        let first = Self.backup[(place + long.count)...].prefix { $0 != 0x20 }
        let large = Array(Self.backup[..<place]) + Array(#""mIterations":99999999,"mSalt":["#.utf8) + Array(first)
        expect(Self.error(large + Self.backup[(first.endIndex + 1)...]), is: .tooExpensive(.freeOTP))
        expect(Self.error(Self.changed(rounds, to: #""mIterations": 1001"#)), is: .wrongPassword(.freeOTP))
        guard
            case .unreadable("FreeOTP 2 backup with another key derivation", _)? =
                Self.error(Self.changed("PBKDF2withHmacSHA512", to: "PBKDF2withHmacSHA384"))
        else {
            Issue.record("another derivation")
            return
        }
        #expect(
            Self.error(Self.changed("AES/GCM/NoPadding", to: "AES/CBC/NoPadding"))
                == .malformed(.freeOTP, "mEncryptedKey"))
        #expect(
            Self.error(Self.changed(#""masterKey""#.replacing("\"", with: ""), to: "masterkey"))
                == .malformed(.freeOTP, "masterKey"))
    }

    /// A token that is damaged is refused by its name, and the others are read.
    @Test func oneToken() throws {
        let changed = Self.changed(#"\"mToken\": \"HmacSHA256\""#, to: #"\"mToken\": \"HmacSHA257\""#)
        try expect(
            ExportSample(changed).summary().lines, is: ["Größe & Söhne:bob:büro: secret"] + Self.lines.dropFirst())
        let digits = Self.changed(#""digits": 8"#, to: #""digits": 9"#)
        try expect(ExportSample(digits).summary().lines.first, is: "Größe & Söhne:bob:büro: digits")
        let steam = Self.changed(#""issuerExt": "Steam""#, to: #""issuerExt": "steam""#)
        try expect(ExportSample(steam).summary().lines.last, is: "steam:dave: digits")
    }

    private static let encoded = """
        rO0ABXNyABFqYXZhLnV0aWwuSGFzaE1hcAUH2sHDFmDRAwACRgAKbG9hZEZhY3RvckkACXRocmVzaG9sZHhwP0AAAAAAABh3CAAAACAAAAAH\
        dAAJbWFzdGVyS2V5dAJ8eyJtQWxnb3JpdGhtIjogIlBCS0RGMndpdGhIbWFjU0hBNTEyIiwgIm1FbmNyeXB0ZWRLZXkiOiB7Im1DaXBoZXIi\
        OiAiQUVTL0dDTS9Ob1BhZGRpbmciLCAibUNpcGhlclRleHQiOiBbLTQsIDQ4LCAxMTYsIC01MCwgMTA1LCAtMzAsIC00NCwgLTQ5LCAtMTA5\
        LCAxMDYsIC0xMTIsIC0xMTgsIDQwLCAxMTIsIC03MSwgNzAsIC0xNiwgMTE0LCAtOTksIDY4LCAxNCwgMzcsIDExOSwgLTExOSwgLTY4LCAz\
        MSwgNTYsIC02NywgLTEyMSwgLTc1LCA2NCwgLTU3LCAtNzQsIDk3LCAtMTEsIDY5LCAtMTE5LCAtMiwgLTQ2LCA3LCA3NSwgLTEzLCAtNTYs\
        IDc5LCAyLCAtMTE1LCA0OCwgLTU1XSwgIm1QYXJhbWV0ZXJzIjogWzQ4LCAxNywgNCwgMTIsIDEwNiwgLTEyNCwgLTg5LCAxMiwgOTksIC00\
        MCwgMTI1LCAtNDgsIC03MiwgOTAsIDI5LCA4NSwgMiwgMSwgMTZdLCAibVRva2VuIjogIkFFUyJ9LCAibUl0ZXJhdGlvbnMiOiAxMDAwLCAi\
        bVNhbHQiOiBbLTExNCwgLTg1LCA3MSwgODQsIC0yLCAtNTAsIC03OSwgLTEwMSwgODUsIC0xNywgMTE2LCAxOSwgMTIsIC00MywgLTExNSwg\
        LTE2LCAtOTgsIC0xMDcsIDEwNCwgODgsIC00OSwgLTQxLCAtMzIsIDY4LCAxMDQsIC0xMjUsIC02MCwgMTA0LCAtMTI4LCAtNjcsIDMsIDEw\
        Nl19dAAkYjFiZjdhOTEtMjliMS00MzA5LTk2YTMtYWIyMTJkMThhYWU4dAGkeyJrZXkiOiAie1wibUNpcGhlclwiOiBcIkFFUy9HQ00vTm9Q\
        YWRkaW5nXCIsIFwibUNpcGhlclRleHRcIjogWy0yMCwgMTEzLCAtNTYsIDQ1LCAtMjMsIC0yOCwgLTEwOSwgNzYsIDQxLCAxMywgOTUsIC04\
        MSwgLTU2LCAxMTAsIC02MCwgMTE1LCAtNjUsIDM4LCAtMzMsIC01NSwgOTIsIC03MSwgMTI3LCAtMTEzLCA4NSwgLTgsIC04LCAtNzEsIDEw\
        MywgMTE1LCAtMTAsIDk1LCAtNDgsIDEwMSwgLTc5LCAtMzEsIC01OSwgLTExOCwgNjQsIC0xMTksIC0zMywgLTk3LCAtMjUsIC0xOCwgMTEy\
        LCAxMjQsIDg3LCAtMTJdLCBcIm1QYXJhbWV0ZXJzXCI6IFs0OCwgMTcsIDQsIDEyLCAwLCA2MSwgLTEyNywgLTU2LCAtNSwgLTQ4LCA3OCwg\
        MjksIDEsIDI0LCAxMDgsIDg2LCAyLCAxLCAxNl0sIFwibVRva2VuXCI6IFwiSG1hY1NIQTI1NlwifSJ9dAAqYjFiZjdhOTEtMjliMS00MzA5\
        LTk2YTMtYWIyMTJkMThhYWU4LXRva2VudACVeyJhbGdvIjogIlNIQTI1NiIsICJkaWdpdHMiOiA4LCAibGFiZWwiOiAiYm9iOmLDvHJvIiwg\
        InR5cGUiOiAiVE9UUCIsICJpc3N1ZXJFeHQiOiAiR3LDtsOfZSAmIFPDtmhuZSIsICJpc3N1ZXJJbnQiOiAiR3LDtsOfZSAmIFPDtmhuZSIs\
        ICJwZXJpb2QiOiA2MH10ACRmODA5NWI1My0zNzQ5LTQxMGMtYWVlOS1kOWMyN2E1MjhiM2R0AWd7ImtleSI6ICJ7XCJtQ2lwaGVyXCI6IFwi\
        QUVTL0dDTS9Ob1BhZGRpbmdcIiwgXCJtQ2lwaGVyVGV4dFwiOiBbMTIsIDEwOSwgLTEwNywgOCwgNDYsIDc5LCA5LCA2MywgLTk4LCAxMjcs\
        IDg3LCAtMTE2LCAtODEsIC00OSwgNDIsIC02NSwgLTMzLCAzMSwgNjIsIC04OCwgOTMsIDgsIC04NiwgMjIsIDI5LCAxMDQsIC00NiwgNzAs\
        IDExOSwgMzYsIC0xMjAsIC0xMTMsIC04NiwgLTY2LCAtMTIyLCAyXSwgXCJtUGFyYW1ldGVyc1wiOiBbNDgsIDE3LCA0LCAxMiwgMjQsIC02\
        NiwgLTI3LCAtMTI4LCA4NiwgNzMsIC0xMjcsIC03OSwgMjIsIDExNCwgLTEwMCwgLTg5LCAyLCAxLCAxNl0sIFwibVRva2VuXCI6IFwiSG1h\
        Y1NIQTFcIn0ifXQAKmY4MDk1YjUzLTM3NDktNDEwYy1hZWU5LWQ5YzI3YTUyOGIzZC10b2tlbnQAhnsiYWxnbyI6ICJTSEExIiwgImRpZ2l0\
        cyI6IDYsICJsYWJlbCI6ICJjYXJvbCIsICJ0eXBlIjogIkhPVFAiLCAiaXNzdWVyRXh0IjogIkNvdW50ZXIgTHRkIiwgImlzc3VlckludCI6\
        ICJDb3VudGVyIEx0ZCIsICJjb3VudGVyIjogNDJ9dAAkMGE0ZTcwMzYtNmFiNS00MTkyLWI0MzQtNGI3YjI4N2YxZGJkdAFleyJrZXkiOiAi\
        e1wibUNpcGhlclwiOiBcIkFFUy9HQ00vTm9QYWRkaW5nXCIsIFwibUNpcGhlclRleHRcIjogWy05MywgLTMwLCAtNTQsIC01MiwgOTUsIDE3\
        LCAxLCA3OSwgNzMsIDk0LCAtOSwgLTgyLCAtOTUsIC04NiwgLTI4LCA5MSwgODUsIC01MSwgLTY2LCAtMTAzLCAyMCwgMjksIDU1LCA3Niwg\
        LTEwNSwgLTcxLCAtODQsIDcxLCAtMTQsIDI2LCA0MCwgLTQxLCAtMTA1LCAtNDgsIC0zOSwgNjhdLCBcIm1QYXJhbWV0ZXJzXCI6IFs0OCwg\
        MTcsIDQsIDEyLCAtNjIsIC0xOSwgMjUsIC01MSwgNzMsIDExLCAtNzAsIC0xMTksIDM5LCAtNjIsIDY1LCAxMDYsIDIsIDEsIDE2XSwgXCJt\
        VG9rZW5cIjogXCJIbWFjU0hBMVwifSJ9dAAqMGE0ZTcwMzYtNmFiNS00MTkyLWI0MzQtNGI3YjI4N2YxZGJkLXRva2VudAB4eyJhbGdvIjog\
        IlNIQTEiLCAiZGlnaXRzIjogNSwgImxhYmVsIjogImRhdmUiLCAidHlwZSI6ICJUT1RQIiwgImlzc3VlckV4dCI6ICJTdGVhbSIsICJpc3N1\
        ZXJJbnQiOiAiU3RlYW0iLCAicGVyaW9kIjogMzB9eA==\

        """
}
