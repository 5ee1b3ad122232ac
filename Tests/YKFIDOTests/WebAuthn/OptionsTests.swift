// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKTestSupport
import YKWire

/// Options in WebAuthn's JSON.
struct OptionsTests {
    private static let full = #"""
        {"publicKey":{"rp":{"id":"example.com","name":"Example"},
        "user":{"id":"AQID","name":"alice","displayName":"Älice"},"challenge":"-_8","timeout":60000.7,
        "pubKeyCredParams":[{"type":"public-key","alg":-8},{"type":"future","alg":1}],
        "excludeCredentials":[{"type":"public-key","id":"AQ==","transports":["usb","warp"]}],
        "authenticatorSelection":{"authenticatorAttachment":"cross-platform","residentKey":"preferred",
        "userVerification":"required"},"hints":["security-key"],"attestation":"enterprise",
        "attestationFormats":["packed"],"extensions":{"credProps":true},"unknown":{"x":[1]}}}
        """#

    @Test func readsCreationOptions() throws {
        let options = try PublicKeyCredentialCreationOptions(parsing: Array(Self.full.utf8))
        #expect(options.rpID == "example.com" && options.rpName == "Example")
        expect(options.user, is: FIDOUser(id: [1, 2, 3], name: "alice", displayName: "Älice"))
        expect(options.challenge, is: [0xFB, 0xFF])
        expect(options.timeout, is: .seconds(60))
        expect(options.parameters.map(\.algorithm.rawValue), is: [-8, 1])
        expect(options.excludeCredentials.first?.transports.map(\.description), is: ["usb", "warp"])
        expect(options.selection.attachment, is: .crossPlatform)
        expect(options.selection.residentKey, is: .preferred)
        expect(options.selection.userVerification, is: .required)
        expect(options.hints, is: [.securityKey])
        #expect(options.attestation == .enterprise && options.attestationFormats == [.packed])
        expect(options.extensions["credProps"], is: true)
        try expect(PublicKeyCredentialCreationOptions(json: options.json), is: options)
        try expect(PublicKeyCredentialCreationOptions(json: ["publicKey": options.json]), is: options)
    }

    @Test func takesDefaults() throws {
        let options = try Site.creation([
            "authenticatorSelection": ["residentKey": "odd", "requireResidentKey": true, "userVerification": "odd"],
            "attestation": "odd", "timeout": nil, "hints": nil,
        ])
        #expect(options.selection.residentKey == .required && options.selection.userVerification == .preferred)
        expect(options.attestation, is: .none)
        // Servers leave the name out, though WebAuthn requires it.
        let nameless = try Site.creation(["user": ["id": "AQ", "displayName": "b"]])
        expect(nameless.user, is: FIDOUser(id: [1], displayName: "b"))
        let plain = PublicKeyCredentialCreationOptions(rpName: "E", user: FIDOUser(id: [1]), challenge: [])
        expect(plain.selection, is: AuthenticatorSelection())
        let request = PublicKeyCredentialRequestOptions(challenge: [1])
        try expect(PublicKeyCredentialRequestOptions(json: request.json), is: request)
    }

    @Test func readsRequestOptions() throws {
        let text = #"{"challenge":"AQ","rpId":"e.com","timeout":1,"userVerification":"discouraged","hints":["hybrid"]}"#
        let options = try PublicKeyCredentialRequestOptions(parsing: Array(text.utf8))
        #expect(options.rpID == "e.com" && options.timeout == .milliseconds(1) && options.hints == [.hybrid])
        #expect(options.userVerification == .discouraged && options.allowCredentials.isEmpty)
        try expect(PublicKeyCredentialRequestOptions(json: options.json), is: options)
    }

    @Test(
        arguments: [
            (["user": ["id": 5, "name": "a", "displayName": "b"]], "user.id: expected base64url, got number"),
            (
                ["user": ["id": "*", "name": "a", "displayName": "b"]],
                "user.id: expected base64url, got string"
            ),
            (["user": ["id": "", "name": "a", "displayName": "b"]], "user.id: 0 bytes, expected 1 to 64"),
            (["user": ["id": "AQ", "name": "a"]], "user.displayName: expected string, got nothing"),
            (["user": nil], "user: expected object, got nothing"),
            (["rp": ["id": "e.com"]], "rp.name: expected string, got nothing"),
            (["rp": "e.com"], "rp: expected object, got string"),
            (["challenge": nil], "challenge: expected base64url, got nothing"),
            (["challenge": [1, 2]], "challenge: expected base64url, got array"),
            (["pubKeyCredParams": nil], "pubKeyCredParams: expected array, got nothing"),
            (["pubKeyCredParams": [true]], "pubKeyCredParams[0]: expected object, got boolean"),
            (
                ["pubKeyCredParams": [["type": "public-key", "alg": "ES256"]]],
                "pubKeyCredParams[0].alg: expected whole number, got string"
            ),
            (["timeout": -1], "timeout: expected non-negative number, got number"),
            (["timeout": 1e300], "timeout: expected non-negative number, got number"),
            (
                ["excludeCredentials": [["type": "public-key"]]],
                "excludeCredentials[0].id: expected base64url, got nothing"
            ),
            (["hints": ["a", 1]], "hints[1]: expected string, got number"),
            (["attestation": 1], "attestation: expected string, got number"),
            (
                ["authenticatorSelection": ["requireResidentKey": "yes"]],
                "authenticatorSelection.requireResidentKey: expected boolean, got string"
            ),
        ] as [(JSONValue, String)])
    func namesWhatIsWrong(_ members: JSONValue, _ message: String) {
        #expect {
            _ = try Site.creation(members)
        } throws: { error in
            (error as? WebAuthnError)?.description == message && (error as? WebAuthnError)?.name == .type
        }
    }

    @Test func refusesWhatIsNoObject() {
        for text in ["", "{", "[]", "null", "7", "{\"publicKey\":[]}"] {
            #expect(throws: WebAuthnError.self) { try PublicKeyCredentialCreationOptions(parsing: Array(text.utf8)) }
            #expect(throws: WebAuthnError.self) { try PublicKeyCredentialRequestOptions(parsing: Array(text.utf8)) }
            #expect(throws: WebAuthnError.self) { try RegistrationResponse(parsing: Array(text.utf8)) }
            #expect(throws: WebAuthnError.self) { try AuthenticationResponse(parsing: Array(text.utf8)) }
            #expect(throws: WebAuthnError.self) { try ClientData(parsing: Array(text.utf8)) }
        }
    }

    /// Every prefix, and every byte changed: an error or an answer, never a trap.
    @Test func survivesNonsense() {
        let text = Array(Self.full.utf8)
        for count in text.indices {
            #expect(throws: WebAuthnError.self) {
                try PublicKeyCredentialCreationOptions(parsing: Array(text.prefix(count)))
            }
            for byte in "\"{}[]0-9,:ntf\\".utf8 {
                var changed = text
                changed[count] = byte
                _ = try? PublicKeyCredentialCreationOptions(parsing: changed)
                _ = try? PublicKeyCredentialRequestOptions(parsing: changed)
            }
        }
    }

    @Test func statesTimeoutsInWholeMilliseconds() {
        #expect(Duration.zero.wholeMilliseconds == 0 && Duration.microseconds(1999).wholeMilliseconds == 1)
        #expect(Duration.seconds(-1).wholeMilliseconds == 0 && Duration.microseconds(-1).wholeMilliseconds == 0)
        expect(Duration.milliseconds(9_000_000_000_000_001).wholeMilliseconds, is: 9_000_000_000_000_001)
        expect(Duration.seconds(Int64.max).wholeMilliseconds, is: .max)
        expect((Duration.milliseconds(Int64.max) + .milliseconds(1)).wholeMilliseconds, is: .max)
    }
}
