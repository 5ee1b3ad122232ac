// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKImport
import YKOATH
import YKTestSupport
import YKWire

/// Exports that other authenticators, or programs written after them, made of the same accounts: `expected.json` says
/// which accounts each holds.
struct ExportTests {
    static let expected = try? JSONValue(parsing: bytes("expected.json"))
    /// The files that are exports by themselves; the others are lines, or refused by name.
    static let names = (expected?.object?.members.map(\.key) ?? []).filter {
        !["ente-plain.txt", "google-migration.txt", "keepassxc.kdbx"].contains($0)
    }

    static func bytes(_ name: String) -> [UInt8] { Recordings.fixture("exports/\(name)") }

    static func export(_ name: String) throws -> AuthenticatorExport {
        try #require(try AuthenticatorExport.recognize(bytes(name), guessing: name.contains("encrypted-old")))
    }

    static let password = SharedSecret(Secret(utf8: "test-password"))

    @Test func allSamplesAreTried() { expect(Self.names.count, is: 21) }

    @Test(arguments: names) func readsEveryAccount(name: String) throws {
        let row = try #require(Self.expected?[name])
        let export = try Self.export(name)
        expect(export.needsPassword, is: (row["password"]?.string != nil))
        let entries = try export.entries(password: Self.password)
        let accounts = try entries.map { try $0.account.get() }
        let wanted = try #require(row["accounts"]?.array)
        expect(accounts.count, is: wanted.count)
        for (account, wanted) in zip(accounts, wanted) {
            let isSteam = wanted["type"]?.string == "steam"
            expect(account.id.issuer ?? "", is: wanted["issuer"]?.string)
            expect(account.id.name, is: wanted["name"]?.string)
            #expect(
                account.id.type == (wanted["type"]?.string == "hotp" ? .hotp : .totp) && account.id.isSteam == isSteam)
            expect(Base32.encode(account.secret.value.copyBytes()), is: wanted["secret"]?.string)
            expect(account.algorithm.description, is: wanted["algorithm"]?.string)
            #expect(account.digits == (isSteam ? 6 : wanted["digits"]?.int.map { Int($0) }))
            expect(account.id.period, is: wanted["period"]?.int.map { .seconds($0) })
            expect(account.counter, is: wanted["counter"]?.int.map { UInt32($0) })
        }
    }

    @Test("an account without a name, in every format that has one")
    func withoutNames() throws {
        func names(_ text: String) throws -> [String] {
            let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
            return try export.entries().map { try $0.account.get().id.text }
        }
        let uri = "otpauth://totp/?secret=GEZDGNBV"
        let files = [
            #"{"header":{},"db":{"entries":[{"type":"totp","name":" ","issuer":" GitHub ","info":{"secret":"GEZDGNBV"}}]}}"#,
            #"[{"secret":"GEZDGNBV","issuer":"GitHub","label":"","type":"TOTP"}]"#,
            #"[{"issuer":"GitHub","account":"","secret":"GEZDGNBV","digits":"6","timer":"30","kind":"TOTP"}]"#,
            #"{"tokenOrder":[],"tokens":[{"issuerExt":"GitHub","label":"","secret":[1],"type":"TOTP"}]}"#,
            #"{"schemaVersion":4,"services":[{"name":"GitHub","secret":"GEZDGNBV","otp":{}}]}"#,
            #"{"Authenticators":[{"Type":2,"Issuer":"GitHub","Username":"","Secret":"GEZDGNBV"}]}"#,
            #"{"encrypted":false,"items":[{"name":"GitHub","login":{"totp":"\#(uri)"}}]}"#,
            "folder,favorite,type,name,login_uri,login_totp\n,,1,GitHub,,\(uri),x,30,6\n",
            "Group,Title,Username,TOTP\nRoot,GitHub,,\(uri)\n",
            #"{"version":1,"entries":[{"content":{"uri":"\#(uri)&issuer=GitHub","name":""}}]}"#,
        ]
        for file in files { try expect(names(file), is: ["GitHub"], "\(file)") }
        let withUser = #"{"encrypted":false,"items":[{"name":"Shop","login":{"username":"eve","totp":"\#(uri)"}}]}"#
        try expect(names(withUser), is: ["Shop:eve"])
        let named = #"{"version":1,"entries":[{"content":{"uri":"\#(uri)&issuer=Shop","name":"eve"}}]}"#
        try expect(names(named), is: ["Shop:eve"])
    }

    @Test(arguments: names) func theFormatIsNamed(name: String) throws {
        let formats: [(String, AuthenticatorExport.Format)] = [
            ("aegis", .aegis), ("2fas", .twoFAS), ("andotp", .andOTP), ("ente", .ente), ("bitwarden", .bitwarden),
            ("keepassxc", .keePassXC), ("raivo", .raivo), ("freeotp", .freeOTPPlus), ("proton", .proton),
            ("stratum", .stratum),
        ]
        let format = formats.first { name.hasPrefix($0.0) }?.1
        try expect(Self.export(name).format, is: format)
    }

    @Test(arguments: names) func aWrongPasswordIsTold(name: String) throws {
        let export = try Self.export(name)
        guard export.needsPassword else { return }
        #expect(throws: ExportError.needsPassword(export.format)) { try export.entries() }
        #expect(throws: ExportError.wrongPassword(export.format)) {
            try export.entries(password: SharedSecret(Secret(utf8: "test-passwore")))
        }
    }

    /// Cut or changed anywhere, a file is refused or read; nothing traps.
    @Test(arguments: names) func damagedFiles(name: String) throws {
        let bytes = Self.bytes(name)
        // An encrypted file costs a key derivation each time.
        let steps = try Self.export(name).needsPassword ? 1 : 64
        for count in stride(from: bytes.count / 2, to: bytes.count, by: max(1, bytes.count / 2 / steps)) {
            _ = try? AuthenticatorExport.recognize(Array(bytes.prefix(count)), guessing: true)?
                .entries(password: Self.password)
            var changed = bytes
            changed[count] ^= 0x11
            _ = try? AuthenticatorExport.recognize(changed, guessing: true)?.entries(password: Self.password)
        }
    }

    @Test func filesThatCannotBeReadAreNamed() throws {
        let kdbx = Self.bytes("keepassxc.kdbx")
        for (bytes, kind) in [
            (kdbx, "KeePass database"),
            (
                Array(#"{"encrypted":true,"encKeyValidation_DO_NOT_EDIT":"2.a|b|c"}"#.utf8),
                "account-encrypted Bitwarden export"
            ),
            (
                Array(#"{"version":2,"salt":"AA==","content":"AA=="}"#.utf8),
                "Proton Authenticator export of another version"
            ),
            (Array(#"{"schemaVersion":5,"services":[]}"#.utf8), "2FAS backup of schema 5"),
        ] as [([UInt8], String)] {
            #expect { try AuthenticatorExport.recognize(bytes) } throws: {
                guard case .unreadable(let found, let advice) = $0 as? ExportError else { return false }
                return found == kind && !advice.isEmpty
            }
        }
        #expect(try AuthenticatorExport.recognize(Array("otpauth://totp/a?secret=AA".utf8)) == nil)
        #expect(try AuthenticatorExport.recognize(Array("{\"a\":1}".utf8)) == nil)
        #expect(try AuthenticatorExport.recognize([]) == nil)
    }

    /// What a key cannot hold is told by account, and the others are read.
    @Test func accountsThatAKeyCannotHold() throws {
        let text = """
            {"version":1,"header":{"slots":null,"params":null},"db":{"version":3,"entries":[
            {"type":"motp","name":"m","issuer":"I","info":{"secret":"GEZDGNBV","algo":"MD5","digits":6,"pin":"1"}},
            {"type":"totp","name":"d","issuer":"I","info":{"secret":"GEZDGNBV","algo":"SHA1","digits":9,"period":30}},
            {"type":"totp","name":"a","issuer":"I","info":{"secret":"GEZDGNBV","algo":"MD5","digits":6,"period":30}},
            {"type":"totp","name":"s","issuer":"I","info":{"secret":"1","algo":"SHA1","digits":6,"period":30}},
            {"type":"totp","name":"","issuer":"","info":{"secret":"GEZDGNBV","algo":"SHA1","digits":6,"period":30}},
            {"type":"hotp","name":"c","issuer":"I","info":{"secret":"GEZDGNBV","algo":"SHA1","digits":6,"counter":-1}},
            {"type":"totp","name":"ok","issuer":"I","info":{"secret":"GEZDGNBV","algo":"SHA1","digits":6,"period":30}}]}}
            """
        let entries = try #require(try AuthenticatorExport.recognize(Array(text.utf8))).entries()
        let fields = entries.map { entry in
            if case .failure(let error) = entry.account { return error.field.rawValue } else { return "read" }
        }
        expect(fields, is: ["type", "digits", "algorithm", "secret", "label", "counter", "read"])
        expect(entries.map(\.label), is: ["I:m", "I:d", "I:a", "I:s", "", "I:c", "I:ok"])
    }

    /// Older versions, empty exports, absent fields, other scripts, and kinds of codes, by format.
    @Test func variants() throws {
        for (format, text, lines) in Self.texts {
            let found = try ExportSample(text).summary()
            #expect(found.format == format && found.lines == lines, "\(format): \(found.lines)")
        }
    }

    @Test("a file does not decide how many accounts are listed")
    func accountsAreLimited() throws {
        let entry = #"{"secret":"GEZDGNBV","label":"a","type":"TOTP"}"#
        let many = "[" + Array(repeating: entry, count: AuthenticatorExport.entryLimit + 1).joined(separator: ",") + "]"
        let export = try #require(try AuthenticatorExport.recognize(Array(many.utf8)))
        #expect(throws: ExportError.malformed(.andOTP, "it has more than 16384 accounts")) { try export.entries() }
    }

    @Test("each format has a name of its own, and a kind of file")
    func formats() {
        let formats = AuthenticatorExport.formats
        #expect(formats.count >= 15 && Set(formats.map(\.name)).count == formats.count)
        #expect(formats.allSatisfy { $0.plain != nil || $0.encrypted != nil })
        #expect(Set(formats).isSuperset(of: Self.texts.map { $0.0 }))
    }

    private static let texts: [(AuthenticatorExport.Format, String, [String])] = [
        (.aegis, #"{"version":1,"header":{"slots":null,"params":null},"db":{"version":1,"entries":[]}}"#, []),
        (
            .aegis,
            #"""
            {"version":1,"header":{},"db":{"version":3,"entries":[
            {"type":"hotp","name":"ключ","issuer":"Пример","info":{"secret":"GEZDGNBV","algo":"SHA256","digits":8,"counter":4294967295}},
            {"type":"steam","name":"s","issuer":"","info":{"secret":"gezd gnbv","algo":"SHA1","digits":5,"period":30}},
            {"type":"totp","name":"n","issuer":"日本","info":{"secret":"GEZDGNBV"}},
            {"type":"totp","name":"x","issuer":"I"},{"name":"y"},{"type":"yandex","name":"z","info":{"secret":"GEZDGNBV"}}]}}
            """#,
            [
                "Пример | ключ | SHA256 8 counter 4294967295", "Steam | s | SHA1 6 30 s Steam", "日本 | n | SHA1 6 30 s",
                "I:x: secret", "y: type", "z: type",
            ]
        ),
        (.twoFAS, #"{"schemaVersion":4,"services":[],"servicesEncrypted":""}"#, []),
        (
            .twoFAS,
            #"""
            {"schemaVersion":1,"appVersionCode":1,"services":[{"name":"Old","secret":"GEZD GNBV","otp":{"account":"a"}},
            {"name":"H","secret":"GEZDGNBV","otp":{"account":"ü@x","tokenType":"HOTP","counter":7,"issuer":"Büro"}},
            {"name":"Steam","secret":"GEZDGNBV","otp":{"tokenType":"STEAM","account":"gamer"}},
            {"name":"N","secret":"GEZDGNBV","otp":{"account":"n","algorithm":"SHA512","digits":8,"period":60}},
            {"name":"M","otp":{"account":"m"}},{"name":"nothing","secret":"GEZDGNBV"}]}
            """#,
            [
                "Old | a | SHA1 6 30 s", "Büro | ü@x | SHA1 6 counter 7", "Steam | gamer | SHA1 6 30 s Steam",
                "N | n | SHA512 8 60 s", "M:m: secret", "- | nothing | SHA1 6 30 s",
            ]
        ),
        (
            .andOTP,
            #"""
            [{"secret":"GEZDGNBV====","label":"Example - alice","type":"TOTP","algorithm":"SHA1","digits":6,"period":30},
            {"secret":"GEZDGNBV","label":"ü-b","issuer":"","type":"HOTP","digits":6,"counter":0},
            {"secret":"GEZDGNBV","label":"s","issuer":"Steam","type":"STEAM"},{"secret":"GEZDGNBV","label":"m","type":"MOTP"}]
            """#,
            ["Example | alice | SHA1 6 30 s", "- | ü-b | SHA1 6 counter 0", "Steam | s | SHA1 6 30 s Steam", "m: type"]
        ),
        (.bitwarden, #"{"encrypted":false,"folders":[],"items":[]}"#, []),
        (
            .bitwarden,
            #"""
            {"encrypted":false,"items":[{"name":"note","notes":"x"},{"name":"none","login":{"username":"u","totp":null}},
            {"name":"Größe","login":{"username":"u","totp":"gezd gnbv"}},{"name":"only","login":{"totp":"GEZDGNBV"}},
            {"name":"S","login":{"username":"g","totp":"steam://GEZDGNBV"}},{"name":"bad","login":{"username":"b","totp":"1"}},
            {"name":"U","login":{"username":"v","totp":"otpauth://hotp/I:n?secret=GEZDGNBV&counter=3"}}]}
            """#,
            [
                "Größe | u | SHA1 6 30 s", "- | only | SHA1 6 30 s", "Steam | g | SHA1 6 30 s Steam", "bad:b: secret",
                "I | n | SHA1 6 counter 3",
            ]
        ),
        (
            .bitwarden, "folder,name,login_username,login_totp\r\n,\"a, \"\"b\"\"\",u,GEZDGNBV\r\n,none,u,\r\n",
            ["a, \"b\" | u | SHA1 6 30 s"]
        ),
        (
            .keePassXC,
            """
            "Group","Title","Username","Password","TOTP"
            "Root","Zeile
            zwei","ü","p","otpauth://totp/I:n?secret=GEZDGNBV&encoder=steam"
            "Root","old","o","p","key=GEZDGNBV&step=60&size=8"
            "Root","none","n","p",""

            """,
            ["Steam | n | SHA1 6 30 s Steam", "old | o | SHA1 8 60 s"]
        ),
        (
            .raivo,
            #"""
            [{"issuer":"Ö","account":"a","secret":"GEZDGNBV","digits":"8","timer":"60","counter":"0","algorithm":"SHA256","kind":"TOTP"},
            {"issuer":"","account":"h","secret":"GEZDGNBV","digits":"6","timer":"","counter":"9","algorithm":"SHA1","kind":"HOTP"},
            {"issuer":"I","account":"d","secret":"GEZDGNBV","digits":"x","timer":"30","kind":"TOTP"}]
            """#,
            ["Ö | a | SHA256 8 60 s", "- | h | SHA1 6 counter 9", "I:d: digits"]
        ),
        (.freeOTPPlus, #"{"tokenOrder":[],"tokens":[]}"#, []),
        (
            .freeOTPPlus,
            #"""
            {"tokenOrder":[],"tokens":[{"algo":"SHA1","counter":4,"digits":6,"issuerExt":"Ä","label":"h","period":30,"secret":[-1,0,127],"type":"HOTP"},
            {"issuerInt":"In","label":"t","secret":[1],"type":"TOTP"},{"label":"big","secret":[128],"type":"TOTP"},{"label":"none","type":"TOTP"}]}
            """#,
            ["Ä | h | SHA1 6 counter 5", "In | t | SHA1 6 30 s", "big: secret", "none: secret"]
        ),
        (.proton, #"{"version":1,"entries":[]}"#, []),
        (
            .proton,
            #"""
            {"version":1,"entries":[{"content":{"uri":"otpauth://totp/%C3%9C:a?secret=GEZDGNBV&digits=8","name":"a"}},
            {"content":{"uri":"steam://GEZDGNBV","name":"g"}},{"content":{"name":"none"}}]}
            """#,
            ["Ü | a | SHA1 8 30 s", "Steam | g | SHA1 6 30 s Steam", "none: secret"]
        ),
        (.stratum, #"{"Authenticators":[]}"#, []),
        (
            .stratum,
            #"""
            {"Authenticators":[{"Type":1,"Issuer":"É","Username":"h","Secret":"GEZDGNBV","Algorithm":2,"Digits":6,"Period":30,"Counter":2},
            {"Type":4,"Issuer":"Steam","Username":"g","Secret":"GEZDGNBV","Algorithm":0,"Digits":5,"Period":30},
            {"Type":2,"Issuer":"alone","Username":null,"Secret":"GEZDGNBV"},{"Type":5,"Issuer":"Y","Username":"y","Secret":"GEZDGNBV"},
            {"Type":2,"Issuer":"Q","Username":"q","Secret":"GEZDGNBV","Algorithm":9}]}
            """#,
            [
                "É | h | SHA512 6 counter 2", "Steam | g | SHA1 6 30 s Steam", "- | alone | SHA1 6 30 s", "Y:y: type",
                "Q:q: algorithm",
            ]
        ),
    ]

    /// A file does not decide how much memory and time is spent.
    @Test func keyDerivationIsBounded() throws {
        let aegis = String(decoding: Self.bytes("aegis-encrypted.json"), as: UTF8.self)
        for (from, to) in [
            ("\"n\": 32768", "\"n\": 8388608"), ("\"p\": 1", "\"p\": 1000"), ("\"r\": 8", "\"r\": 1000"),
        ] {
            let text = aegis.replacing(from, with: to)
            #expect(text != aegis)
            let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
            #expect(throws: ExportError.tooExpensive(.aegis)) { try export.entries(password: Self.password) }
        }
        let ente = String(decoding: Self.bytes("ente-encrypted.json"), as: UTF8.self)
        for value in ["99999999999", "9223372036854775807"] {
            let text = ente.replacing("\"memLimit\": 67108864", with: "\"memLimit\": \(value)")
            let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
            #expect(throws: ExportError.tooExpensive(.ente)) { try export.entries(password: Self.password) }
        }
        let bitwarden = String(decoding: Self.bytes("bitwarden-password-pbkdf2.json"), as: UTF8.self)
        let export = try #require(
            try AuthenticatorExport.recognize(Array(bitwarden.replacing("600000", with: "2147483647").utf8)))
        #expect(throws: ExportError.tooExpensive(.bitwarden)) { try export.entries(password: Self.password) }
        let argon = String(decoding: Self.bytes("bitwarden-password-argon2.json"), as: UTF8.self)
        for memory in ["-9223372036854775808", "0", "9223372036854775807"] {
            let text = argon.replacing("\"kdfMemory\": 64", with: "\"kdfMemory\": \(memory)")
            #expect(text != argon)
            let export = try #require(try AuthenticatorExport.recognize(Array(text.utf8)))
            #expect(throws: ExportError.tooExpensive(.bitwarden)) { try export.entries(password: Self.password) }
        }
    }

    /// RFC 7914 §12 and libargon2's own vector (`src/test.c`, version 19, Argon2id).
    @Test func publishedVectors() throws {
        let scrypt = try PasswordHash.scrypt(cost: 1024, blockSize: 8, parallelism: 16).derive(
            Secret(utf8: "password"), salt: Array("NaCl".utf8), length: 64)
        #expect(
            Hex.encode(scrypt.copyBytes())
                == "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162"
                + "2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640")
        let argon = try PasswordHash.argon2id(passes: 2, kibibytes: 65536, lanes: 1).derive(
            Secret(utf8: "password"), salt: Array("somesalt".utf8), length: 32)
        expect(Hex.encode(argon.copyBytes()), is: "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7")
        for hash in [
            PasswordHash.scrypt(cost: 3, blockSize: 1, parallelism: 1), .scrypt(cost: 0, blockSize: 1, parallelism: 1),
            .scrypt(cost: 2, blockSize: -1, parallelism: 1), .argon2id(passes: 0, kibibytes: 8, lanes: 1),
            .argon2id(passes: 1, kibibytes: 1, lanes: 4),
        ] {
            #expect(throws: PasswordHash.Failure.invalidParameters) {
                _ = try hash.derive(Secret(utf8: "p"), salt: Array("somesalt".utf8), length: 32).count
            }
        }
    }
}
