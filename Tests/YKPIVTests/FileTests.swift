// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKWire
import YKX509

/// Files that OpenSSL wrote.
struct FileTests {
    private let folder = "/tmp/ykpiv-files.\(getpid()).\(UInt64.random(in: 0 ... .max))"

    private func made(_ script: String) throws -> [UInt8] {
        defer { _ = try? run(["rm", "-rf", folder]) }
        let text = "mkdir -p \(folder) && cd \(folder) && \(script)"
        let result = try run(["bash", "-c", text])
        expect(result.status, is: 0)
        return result.output
    }

    static let request =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k -out c -subj /CN=a "

    @Test func readsPEM() throws {
        let both = try KeyFile(try made(Self.request + "2>/dev/null && cat c k && openssl pkey -in k -pubout"))
        let key = try #require(both.privateKey)
        #expect(both.certificates.count == 1 && both.certificates[0].publicKey == key.publicKey)
        expect(both.publicKey, is: key.publicKey)
        expect(both.certificates[0].subject.description, is: "CN=a")
        let text = PEM.encode("CERTIFICATE", both.certificates[0].der)
        try expect(KeyFile(Array(text.utf8)).certificates, is: both.certificates)
        try expect(KeyFile(Array(text.replacing("\n", with: "\r\n").utf8)).certificates, is: both.certificates)
        try expect(KeyFile(both.certificates[0].der).certificates, is: both.certificates)
        try expect(KeyFile(key.der.value.copyBytes()).privateKey, is: key)
        try expect(KeyFile(key.publicKey.subjectPublicKeyInfo).publicKey, is: key.publicKey)
    }

    @Test(arguments: [
        "openssl genpkey -algorithm ED25519 -aes256 -pass pass:abc",
        "openssl genrsa -traditional -aes128 -passout pass:abc 1024 2>/dev/null",
        "openssl genpkey -algorithm X25519 | openssl pkcs8 -topk8 -passout pass:abc -v2 aes-256-cbc -scrypt",
    ])
    func opensEncryptedKeys(_ command: String) throws {
        let file = try made(command)
        #expect(try KeyFile(file, password: secret("abc")).privateKey != nil)
        #expect(throws: PIVError.invalidFile(.passwordNeeded)) { try KeyFile(file) }
        #expect(throws: PIVError.invalidFile(.wrongPassword)) { try KeyFile(file, password: secret("abd")) }
    }

    @Test(arguments: ["", "-legacy", "-certpbe NONE -keypbe NONE", "-nomac"])
    func opensPKCS12(_ options: String) throws {
        let file = try made(
            Self.request + "2>/dev/null && openssl pkcs12 -export -in c -inkey k -passout pass:abc \(options)")
        let opened = try KeyFile(file, password: secret("abc"))
        expect(opened.privateKey?.publicKey, is: opened.certificates.first?.publicKey)
        expect(opened.certificates.count, is: 1)
        #expect(throws: PIVError.invalidFile(.passwordNeeded)) { try KeyFile(file) }
        #expect(throws: PIVError.invalidFile(.wrongPassword)) { try KeyFile(file, password: secret("abd")) }
    }

    @Test func opensPKCS12WithoutPassword() throws {
        let file = try made(Self.request + "2>/dev/null && openssl pkcs12 -export -in c -inkey k -passout pass:")
        #expect(try KeyFile(file).privateKey != nil)
    }

    @Test func refusesEndlessWork() throws {
        let file = try made(
            Self.request + "2>/dev/null && openssl pkcs12 -export -in c -inkey k -passout pass:abc -iter 1000")
        let rounds = try bytes("020203e8")
        var found = 0
        for index in 0..<(file.count - 4) where Array(file[index..<(index + 4)]) == rounds {
            found += 1
            var bent = file
            bent.replaceSubrange(index..<(index + 4), with: [0x02, 0x02, 0x7F, 0xFF])
            _ = try? KeyFile(bent, password: secret("abc"))
        }
        #expect(found > 0)
    }

    /// A salt as DER, salts as BER, which OpenSSL reads as well, scrypt's three factors, and many salts.
    @Test(
        "refuses endless work wherever it hides",
        arguments: [
            ("0408 0102030405060708 0204 7FFFFFFF", 0x7FFF_FFFF), ("2406 040401020304 0204 7FFFFFFF", 0x7FFF_FFFF),
            ("2480 040401020304 0000 0204 7FFFFFFF", 0x7FFF_FFFF),
            ("06092B06010401DA47040B 3011 040401020304 02024000 020108 02021000", 0x4000 * 8 * 0x1000 / 2),
            ("06092B06010401DA47040B 301A 040401020304 02067FFFFFFFFFFF 02047FFFFFFF 02047FFFFFFF", .max / 2),
            ("040101 02034C4B40 3007 040102 02024E20", 5_020_000),
        ] as [(String, UInt64)])
    func refusesHiddenWork(_ hex: String, _ rounds: UInt64) throws {
        let bomb = TLV(0x30, TLV(0x30, TLV(0x30, try bytes(hex)).encoded).encoded).encoded
        #expect(throws: PIVError.invalidFile(.tooMuchWork(rounds: rounds))) {
            try KeyFile(bomb, password: secret("abc"))
        }
        let pem = Array(PEM.encode("ENCRYPTED PRIVATE KEY", bomb).utf8)
        #expect(throws: PIVError.invalidFile(.tooMuchWork(rounds: rounds))) {
            try KeyFile(pem, password: secret("abc"))
        }
    }

    @Test func refusesWhatItDoesNotKnow() throws {
        #expect(throws: PIVError.invalidFile(.unknownFormat)) { try KeyFile([]) }
        #expect(throws: PIVError.invalidFile(.unknownFormat)) { try KeyFile(Array("hello".utf8)) }
        #expect(throws: PIVError.invalidFile(.unknownFormat)) { try KeyFile([0x30, 0x03, 0x02, 0x01, 0x05]) }
        #expect(throws: PIVError.invalidFile(.unknownFormat)) { try KeyFile(Array(PEM.encode("FOO", [1]).utf8)) }
        #expect(throws: PIVError.invalidFile(.tooLarge(limit: KeyFile.limit))) {
            try KeyFile([UInt8](repeating: 0x30, count: KeyFile.limit + 1))
        }
        for label in ["CERTIFICATE", "PUBLIC KEY", "PRIVATE KEY"] {
            #expect(throws: PIVError.self) { try KeyFile(Array(PEM.encode(label, [0x30, 0x00]).utf8)) }
        }
        let nested = (0..<2000).reduce([UInt8]()) { inner, _ in TLV(0x30, inner).encoded }
        #expect(throws: PIVError.self) { try KeyFile(nested) }
    }

    @Test(
        "reads keys with explicit curve parameters, whose order is no number of rounds",
        arguments: [
            "openssl ecparam -name prime256v1 -param_enc explicit -genkey -noout",
            "openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384 -pkeyopt ec_param_enc:explicit",
            "openssl ecparam -name prime256v1 -param_enc explicit -genkey -noout | openssl pkey -outform der",
            "openssl ecparam -name secp384r1 -param_enc explicit -genkey -noout | openssl pkcs8 -topk8 -passout pass:abc",
            "openssl ecparam -name prime256v1 -param_enc explicit -genkey -noout -out k && openssl req -x509 -key k "
                + "-subj /CN=a -out c && openssl pkcs12 -export -in c -inkey k -passout pass:abc -keypbe NONE -certpbe NONE",
        ])
    func readsExplicitParameters(_ command: String) throws {
        let key = try #require(try KeyFile(try made(command), password: secret("abc")).privateKey)
        guard case .ec = key.publicKey else { return #expect(Bool(false), "\(key.publicKey)") }
    }

    @Test("opens an encrypted key in DER", arguments: ["-v2 aes-256-cbc", "-v1 PBE-SHA1-3DES", "-scrypt"])
    func opensEncryptedDER(_ options: String) throws {
        let file = try made(
            "openssl genpkey -algorithm ED25519 -out k && openssl pkcs8 -topk8 -in k -outform der -passout pass:abc "
                + options)
        #expect(try KeyFile(file, password: secret("abc")).privateKey != nil)
        #expect(throws: PIVError.invalidFile(.passwordNeeded)) { try KeyFile(file) }
        #expect(throws: PIVError.invalidFile(.wrongPassword)) { try KeyFile(file, password: secret("abd")) }
    }

    @Test("reads PEM with a byte order mark and in UTF-16")
    func readsOtherEncodings() throws {
        let text = String(decoding: try made(Self.request + "2>/dev/null && cat c k"), as: UTF8.self)
        let plain = try KeyFile(Array(text.utf8))
        let units = text.replacing("\n", with: "\r\n").utf16
        let little = units.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
        let big = units.flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
        for bytes in [[0xEF, 0xBB, 0xBF] + Array(text.utf8), [0xFF, 0xFE] + little, [0xFE, 0xFF] + big, little, big] {
            let file = try KeyFile(bytes)
            #expect(file.privateKey == plain.privateKey && file.certificates == plain.certificates)
        }
    }

    @Test(
        "names a legacy cipher, instead of calling the password wrong",
        arguments: [
            ("PBE-MD5-DES", false, "openssl pkcs8 -topk8 -in k -v1 PBE-MD5-DES -provider legacy -provider default"),
            (
                "PBE-SHA1-RC2-40", false,
                "openssl pkcs8 -topk8 -in k -v1 PBE-SHA1-RC2-40 -provider legacy -provider default"
            ),
            ("DES-CBC", false, "openssl pkcs8 -topk8 -in k -v2 des-cbc -provider legacy -provider default"),
            (
                "PBE-MD5-DES", false,
                "openssl pkcs8 -topk8 -in k -outform der -v1 PBE-MD5-DES -provider legacy -provider default"
            ),
            ("DES-CBC", false, "openssl ec -in k -des -provider legacy -provider default 2>/dev/null"),
            ("PBE-SHA1-RC2-40", true, "openssl pkcs12 -export -in c -inkey k -legacy -keypbe PBE-SHA1-RC2-40"),
            ("PBE-SHA1-RC4-128", true, "openssl pkcs12 -export -in c -inkey k -legacy -keypbe PBE-SHA1-RC4-128 -nomac"),
        ])
    func namesLegacyCiphers(_ name: String, _ isPKCS12: Bool, _ command: String) throws {
        let file = try made(Self.request + "2>/dev/null && \(command) -passout pass:abc")
        #expect(throws: PIVError.invalidFile(.passwordNeeded)) { try KeyFile(file) }
        #expect(throws: PIVError.invalidFile(.legacyCipher(name, isPKCS12: isPKCS12))) {
            try KeyFile(file, password: secret("abc"))
        }
    }

    @Test("refuses two keys, not the same one twice")
    func refusesTwoKeys() throws {
        let two = Self.request + "2>/dev/null && openssl genpkey -algorithm ED25519 -out l && "
        for command in ["cat k l", "cat l c k", "openssl pkey -in k -pubout; openssl pkey -in l -pubout"] {
            #expect(throws: PIVError.invalidFile(.severalKeys)) { try KeyFile(try made(two + command)) }
        }
        #expect(try KeyFile(try made(two + "cat k c k")).privateKey != nil)
        let bag = TLV(0x06, try bytes("2A864886F70D010C0A0102")).encoded
        #expect(PKCS12.keyBags(in: bag + [0] + bag) == 2 && PKCS12.keyBags(in: [1] + bag) == 1)
    }

    @Test("a private key of OpenSSH is told apart")
    func tellsOpenSSH() throws {
        let file = try made("ssh-keygen -q -t ed25519 -N '' -f k && cat k")
        #expect(throws: PIVError.invalidFile(.openSSH)) { try KeyFile(file) }
    }

    private static let chain =
        request.replacing("/CN=a", with: "/CN=CA") + "2>/dev/null && openssl req -newkey ec -pkeyopt "
        + "ec_paramgen_curve:P-256 -nodes -keyout l -out r -subj /CN=leaf 2>/dev/null && "
        + "openssl x509 -req -in r -CA c -CAkey k -out m 2>/dev/null && "

    @Test(
        "finds the certificate that is meant, wherever it is",
        arguments: [
            "cat m c", "cat c m", "cat c m c", "openssl pkcs12 -export -nokeys -in c -certfile m -passout pass:",
        ])
    func findsTheLeaf(_ command: String) throws {
        let file = try KeyFile(try made(Self.chain + command))
        try expect(file.certificate()?.subject.description, is: "CN=leaf")
        let authority = try #require(file.certificates.first { $0.subject.description == "CN=CA" })
        try expect(file.certificate(for: authority.publicKey), is: authority)
        try expect(KeyFile(certificates: [authority]).certificate(), is: authority)
        try expect(KeyFile(certificates: []).certificate(), is: nil)
    }

    @Test("refuses a choice between certificates, unless a key decides")
    func refusesToGuess() throws {
        let file = try KeyFile(try made(Self.chain + "openssl x509 -req -in r -CA c -CAkey k 2>/dev/null; cat c m"))
        #expect(throws: PIVError.invalidFile(.severalCertificates(2))) { try file.certificate() }
        let leaf = try #require(file.certificates.last)
        try expect(file.certificate(for: leaf.publicKey)?.publicKey, is: leaf.publicKey)
        let withKey = try KeyFile(try made(Self.chain + "openssl req -x509 -key l -subj /CN=x; cat c m l"))
        try expect(withKey.certificate()?.publicKey, is: withKey.privateKey?.publicKey)
    }
}
