// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKProtocols
import YKSSH
import YKTestSupport
import YKTransport
import YKWire
import YKX509

@testable import TerminalIO
@testable import Verbs

/// Every failure of PIV says what happened and why, in one form, and ends with the right status.
@Suite struct ExplainPIVTests {
    static let wire = WireError(.malformed, at: 0, "something")

    static let errors: [(PIVError, TerminalIO.ExitStatus, String)] = [
        (.card(.link(.removed)), .removed, "insert it again"),
        (.card(.appletMissing(.piv)), .notSupported, "ykit info"),
        (.wrong(.pin, triesLeft: 2), .authentication, "did not retry"),
        (.wrong(.puk, triesLeft: 1), .authentication, "did not retry"),
        (.wrong(.fingerprint, triesLeft: 1), .authentication, ""),
        (.blocked(.pin), .blocked, "unblock-pin"), (.blocked(.puk), .blocked, "ykit piv reset"),
        (.blocked(.fingerprint), .blocked, "PIN"), (.emptyPIN, .usage, ""), (.badPINLength(9), .usage, ""),
        (.refusedPIN(.incorrectParameters), .policy, "6 to 8"), (.pinRequired, .authentication, "--pin-stdin"),
        (.touchTimeout, .timeOut, "touch"),
        (.managementKeyRequired, .authentication, "--management-key-fd"),
        (.wrongManagementKey, .authentication, "ykit piv reset"),
        (.managementKeyLength(16, needs: .aes192), .usage, ""),
        (.unknownManagementKeyType(nil), .notSupported, ""),
        (.unknownManagementKeyType(ManagementKeyType(rawValue: 0x77)), .notSupported, ""),
        (.notAuthentic, .authentication, "impostor"), (.notProtected, .notFound, "--protect"),
        (.noSuchObject(.chuid), .notFound, "ykit piv info"),
        (.noSuchObject(.authenticationCertificate), .notFound, "ykit piv info"),
        (.noKey(.authentication), .notFound, "ykit piv info"),
        (.unknownKey(.authentication), .notFound, "--public-key FILE"), (.unproven, .authentication, "--no-mutual"),
        (.unsupportedManagementKey(.tripleDES), .notSupported, "--algorithm"),
        (.unusableSlot(.attestation), .usage, ""),
        (.full, .failed, "--compress"),
        (.refusedLength(.authenticationCertificate), .failed, "--compress"),
        (.refusedLength(.administration), .failed, ""),
        (.unsupported(.moveKey, needs: FirmwareVersion(5, 7, 0), has: FirmwareVersion(5, 4, 3)), .notSupported, ""),
        (.unsupportedAlgorithm(.ed25519), .notSupported, ""),
        (.weakGeneration(FirmwareVersion(4, 2, 8)), .policy, "ecc-p256"), (.unfit(.x25519, for: .sign), .usage, ""),
        (.unfitPeer(.p256), .usage, ""), (.occupied(.signature), .policy, "ykit piv keys delete 9c"),
        (.notAttestable(.signature), .policy, ""), (.badInput("too long"), .usage, ""),
        (.notDecrypted, .failed, "--padding"), (.malformedObject(.chuid, wire), .malformed, ""),
        (.notInflated(limit: 10), .malformed, ""), (.notCertificate("no sequence"), .malformed, ""),
        (.mismatch(.authentication), .policy, "--no-check"),
        (.chain(.notSignedByDevice), .authentication, "--root"),
        (.chain(.noIssuer(subject: "CN=x")), .authentication, "--root"),
        (.chain(.notAuthority(subject: "CN=x")), .authentication, "--root"),
        (.chain(.notValidNow(subject: "CN=x")), .authentication, "--root"),
        (.chain(.tooLong), .authentication, "--root"),
        (.chain(.refused(subject: "CN=x", reason: "no")), .authentication, "--root"),
        (.invalidFile(.unknownFormat), .malformed, ""), (.invalidFile(.tooLarge(limit: 1 << 20)), .malformed, ""),
        (.invalidFile(.passwordNeeded), .authentication, "--file-password-fd"),
        (.invalidFile(.wrongPassword), .authentication, ""), (.invalidFile(.malformed("x")), .malformed, ""),
        (.invalidFile(.tooMuchWork(rounds: 9)), .policy, ""), (.fingerprintsConfigured, .policy, "ykit config reset"),
        (.resetNotAllowed, .policy, "ykit piv reset"), (.noReset, .notSupported, "delete"),
        (.notBlocked(.puk), .policy, "ykit piv info"),
    ]

    @Test(arguments: errors) func explained(_ error: PIVError, _ exit: TerminalIO.ExitStatus, _ hint: String) {
        let explained = Explanation(error)
        expect(explained.exit, is: exit, "\(error)")
        if !hint.isEmpty { expect(explained.hint?.contains(hint), is: true, "\(explained)") }
        #expect(!explained.code.isEmpty && !explained.message.isEmpty && explained.message.last != ".")
        expect(explained.message.trimmingPrefix("RSA").first?.isUppercase, is: false, "\(explained)")
    }

    @Test func invalidNamesAreExplained() throws {
        let error = try #require(throws: X509NameError.self) { try DistinguishedName("Alice") }
        let explained = Explanation(error)
        #expect(explained.exit == .usage && explained.hint?.contains("CN=Alice") == true)
        expect(explained.message, is: "this is not a valid certificate subject: \(error.reason)")
    }

    @Test func triesThatAreLeftAreTold() {
        expect(Explanation(PIVError.wrong(.pin, triesLeft: 2)).retriesLeft, is: 2)
        expect(Explanation(PIVError.blocked(.puk)).retriesLeft, is: 0)
    }
}

@Suite struct PublicKeyFormatTests {
    /// BIP 173, valid Bech32.
    @Test func bech32() {
        expect(Bech32.encode("a", []), is: "a12uel5l")
        #expect(
            Bech32.encode("abcdef", (0..<20).map { UInt8($0) }).hasPrefix("abcdef1qqqsyqcyq5rqwzqfpg9scrgwpugpzysn"))
    }

    /// RFC 4251 §5: the top bit of a number is no sign.
    @Test func numbersOfSSHArePositive() throws {
        let line = try #require(
            SSHPublicKey(.rsa(modulus: [0x80, 0x01], exponent: [1, 0, 1]))?.line(comment: "me"))
        let parts = line.split(separator: " ").map(String.init)
        #expect(parts[0] == "ssh-rsa" && parts[2] == "me")
        #expect(
            try Base64.decode(parts[1])
                == [0, 0, 0, 7] + Array("ssh-rsa".utf8) + [0, 0, 0, 3, 1, 0, 1, 0, 0, 0, 3, 0, 0x80, 0x01])
        expect(SSHPublicKey(.x25519([UInt8](repeating: 1, count: 32)))?.line(comment: ""), is: nil)
    }

    @Test(
        arguments: [
            (0, "1970-01-01"), (951_782_400, "2000-02-29"), (1_795_254_512, "2026-11-21"), (-1, "1969-12-31"),
            (253_402_300_799, "9999-12-31"),
        ] as [(Int64, String)]) func days(_ seconds: Int64, _ text: String)
    {
        expect(Day.text(seconds), is: text)
    }
}
