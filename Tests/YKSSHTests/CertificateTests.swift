// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKWire

@testable import YKSSH

/// Certificates, and signatures made with them by ssh-keygen (OpenSSH 9.2).
struct CertificateTests {
    private static let names = [
        "user", "expired", "future", "nobody", "host", "ecdsa", "rsa", "critical",
    ]

    private func certificate(_ name: String) throws -> SSHCertificate {
        try SSHCertificate.parse(line: Vectors.text("certificates/\(name)-cert.pub")).certificate
    }

    private func signature(_ name: String) throws -> SSHFileSignature {
        try SSHFileSignature(parsing: Vectors.bytes("certificates/\(name).sig"))
    }

    private func check(
        _ name: String, _ line: String, authority: String = "ca", identity: String = "alice@x",
        now: Int64 = 1_800_000_000
    ) throws -> AllowedSigners.Verdict {
        let key = try Vectors.text("certificates/\(authority).pub")
        return AllowedSigners(Array(line.replacing("CA", with: key).utf8)).check(
            try signature(name), identity: identity, now: now)
    }

    @Test(arguments: names) func certificatesAreRead(name: String) throws {
        let line = try Vectors.text("certificates/\(name)-cert.pub")
        let (certificate, _) = try SSHCertificate.parse(line: line)
        #expect(line.hasPrefix("\(certificate.type) "))
        #expect(certificate.keyID == "id-\(name)" && certificate.kind == (name == "host" ? .host : .user))
        expect(
            certificate.principals, is: (name == "nobody" ? [] : name == "user" ? ["alice@x", "bob@x"] : ["alice@x"]))
        expect(certificate.serial, is: (name == "user" ? 7 : 0))
        for count in 0..<certificate.blob.count {
            #expect(throws: SSHError.self) { try SSHCertificate(blob: Array(certificate.blob.prefix(count))) }
        }
        #expect(throws: SSHError.self) { try SSHCertificate(blob: certificate.blob + [0]) }
        #expect(throws: SSHError.self) { try SSHPublicKey(blob: certificate.blob) }
    }

    @Test("blank lines and comments before the line, and tabs in it, are read as by ssh-keygen")
    func lines() throws {
        let line = try Vectors.text("certificates/user-cert.pub")
        let words = line.split(separator: " ", maxSplits: 2)
        for text in [
            "# a comment\n\n  # another\n" + line, "\r\n" + line, words.joined(separator: "\t") + "\nssh-rsa AAAA",
        ] {
            let (certificate, comment) = try SSHCertificate.parse(line: text)
            #expect(certificate.keyID == "id-user" && !comment.contains("\n"))
        }
        #expect(throws: SSHError.malformed("this is a public key, not a certificate")) {
            try SSHCertificate.parse(line: Vectors.text("rsab2048.pub"))
        }
        #expect(throws: SSHError.self) { try SSHCertificate.parse(line: "# nothing\n") }
        let (one, other) = (line, try Vectors.text("certificates/sk_ed25519-cert.pub"))
        try expect(SSHCertificate.parse(line: "\(one)\n# again\n\(one)").certificate.keyID, is: "id-user")
        #expect(throws: SSHError.severalKeys) { try SSHCertificate.parse(line: "\(one)\n\(other)") }
    }

    @Test("every bit of a certificate is signed")
    func everyBitCounts() throws {
        let blob = try certificate("user").blob
        for index in blob.indices {
            var changed = blob
            changed[index] ^= 1
            expect((try? SSHCertificate(blob: changed)), is: nil, "byte \(index)")
        }
    }

    @Test func theAuthorityMaySignWithSHA2Only() throws {
        let line = try Vectors.text("certificates/rsasha1-cert.pub")
        #expect(throws: SSHError.wrongSignature("the authority signed the certificate with ssh-rsa, which uses SHA-1"))
        {
            try SSHCertificate.parse(line: line)
        }
    }

    @Test(arguments: [("user", "ca"), ("ecdsa", "ecca"), ("rsa", "rsaca")])
    func signaturesWithCertificatesAreAllowedByTheirAuthority(name: String, authority: String) throws {
        let signed = try signature(name)
        #expect(signed.isValid(digest: signed.hash.hash(try Vectors.bytes("certificates/message"))))
        expect(signed.certificate, is: (try certificate(name)))
        try expect(SSHFileSignature(parsing: Array(signed.text.utf8)), is: signed)
        #expect(try check(name, "alice@x cert-authority CA", authority: authority).isAllowed)
        #expect(try check(name, "*@x CERT-AUTHORITY,namespaces=\"file\" CA", authority: authority).isAllowed)
        for line in [
            "alice@x CA", "bob@x cert-authority CA", "alice@x cert-authority,namespaces=\"git\" CA",
            "alice@x cert-authority,valid-before=\"20200101\" CA", "alice@x cert-authority,valid-after=\"20400101\" CA",
        ] {
            #expect(try !check(name, line, authority: authority).isAllowed, "\(line)")
        }
        for other in ["ca", "ecca", "rsaca"] where other != authority {
            #expect(try !check(name, "alice@x cert-authority CA", authority: other).isAllowed)
        }
    }

    @Test("the certified key alone is another signer than its certificate")
    func keyAndCertificateDiffer() throws {
        #expect(try !check("user", "alice@x CA", authority: "k1").isAllowed)
        let line = try Vectors.text("certificates/user-cert.pub")
        #expect(try check("user", "alice@x \(line)").isAllowed)
        #expect(try !check("user", "alice@x cert-authority \(line)").isAllowed)
    }

    @Test(arguments: [
        ("expired", "the certificate has expired"), ("future", "the certificate is not valid yet"),
        ("nobody", "the certificate names no users"), ("host", "the certificate is not a user certificate"),
        ("critical", "the certificate has the unknown critical option 'unknown@example.com'"),
    ]) func certificatesThatAreNotValidAreRefused(name: String, why: String) throws {
        let verdict = try check(name, "alice@x cert-authority CA")
        #expect(!verdict.isAllowed && verdict.notes == ["line 1: \(why)"])
    }

    @Test func timeAndNameAreThoseOfTheCertificate() throws {
        let line = "* cert-authority CA"
        #expect(try check("expired", line, now: 1_600_000_000).isAllowed)
        #expect(try check("user", line, identity: "bob@x").isAllowed)
        try expect(check("user", line, identity: "carol@x").notes, is: ["line 1: the certificate is for other names"])
        #expect(try !check("user", line, identity: "Alice@x").isAllowed)
    }

    @Test("a host's key may be certified, also one of a FIDO key")
    func hostKeys() throws {
        try expect(SSHPublicKey(hostKey: try certificate("host").blob), is: (try Vectors.key("certificates/k1")))
        var writer = SSHWriter()
        writer.string("sk-ssh-ed25519-cert-v01@openssh.com")
        writer.string([1, 2, 3])
        writer.string([UInt8](repeating: 9, count: 32))
        writer.string("ssh:")
        let key = try SSHPublicKey(hostKey: writer.bytes)
        #expect(key.type == "sk-ssh-ed25519@openssh.com" && key.application == "ssh:")
    }
}
