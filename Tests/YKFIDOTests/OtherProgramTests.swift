// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKFIDO

/// The formats of libfido2, pam_u2f and systemd, with the virtual key.
struct OtherProgramTests {
    private static let hash = [UInt8](repeating: 5, count: 32)

    private static func service() async throws -> FIDOService {
        let key = try VirtualKey.new()
        var environment = ServiceEnvironment(timeout: .seconds(20))
        environment.pause = { _, _ in }
        return try await FIDOService.open(
            card: CardChannel(link: key.link(), environment: environment), interaction: FIDOInteraction())
    }

    private static func text(_ lines: [String]) -> [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    @Test func exchangesWithLibFIDO2() async throws {
        let service = try await Self.service()
        let input = Self.text([Base64.encode(Self.hash), "example.com", "alice", Base64.encode([1, 2])])
        var wanted = try RegistrationRequest(libFIDO2: input)
        #expect(wanted.clientDataHash == Self.hash && wanted.relyingParty.id == "example.com")
        #expect(wanted.user.name == "alice" && wanted.user.id == [1, 2])
        wanted.userVerification = .discouraged
        wanted.extensions.createsHMACSecret = true
        let made = try await service.register(wanted)
        let lines = made.libFIDO2Lines(for: wanted)
        #expect(lines.count == 7 && lines[1...2] == ["example.com", "packed"])
        let stored = try ResponseFile(libFIDO2Registration: Self.text(lines))
        let credential = try #require(stored.authenticatorData.credential)
        #expect(stored.isRegistration && stored.rpID == "example.com" && stored.clientData == nil)
        #expect(stored.credentialID == credential.id && stored.clientDataHash == Self.hash)
        guard case .registration(let object) = stored.content else { return }
        var check = AttestationVerification(rpID: "example.com")
        check.requiresUserVerification = false
        try expect(check.check(object, clientDataHash: Self.hash).name(isAnchored: false), is: "certificates")
        expect(credential.libFIDO2Lines[0], is: Base64.encode(credential.id))
        let key = try COSEKey(pem: Array((credential.publicKey.pem ?? "").utf8))
        expect(key.subjectPublicKeyInfo, is: credential.publicKey.subjectPublicKeyInfo)

        let salt = [UInt8](repeating: 7, count: 64)
        let ask = Self.text([
            Base64.encode(Self.hash), "example.com", Base64.encode(credential.id), Base64.encode(salt),
        ])
        var request = try AssertionRequest(libFIDO2: ask, isResident: false)
        #expect(request.allowList.map(\.id) == [credential.id] && request.extensions.salts?.second == salt[32...] + [])
        request.userVerification = .discouraged
        let signed = try #require(try await service.assert(request).first).libFIDO2Lines(for: request)
        #expect(signed.count == 5 && (try? Base64.decode(signed[4]))?.count == 64)
        let response = try #require(try ResponseFile.assertions(libFIDO2: Self.text(signed)).first)
        guard case .assertion(let data, let signature) = response.content else { return }
        #expect(!response.isRegistration && response.credentialID == nil)
        let verifier = AssertionVerification(rpID: "example.com", publicKey: key)
        try verifier.check(data, signature: signature, clientDataHash: Self.hash)
    }

    @Test func readsResidentRequests() throws {
        let lines = [Base64.encode(Self.hash), "example.com"]
        let request = try AssertionRequest(libFIDO2: Self.text(lines), isResident: true)
        #expect(request.allowList.isEmpty && request.extensions.salts == nil)
        let salted = try AssertionRequest(libFIDO2: Self.text(lines + [Base64.encode(Self.hash)]), isResident: true)
        #expect(salted.extensions.salts?.first == Self.hash && salted.extensions.salts?.second == nil)
    }

    @Test(arguments: [
        ([], 1, FormatError.Problem.endsBefore("the hash of the client data")),
        (["AA=="], 1, .malformed("the hash of the client data has 1 bytes")),
        (["!"], 1, .malformed("the hash of the client data is not base64")),
        ([Base64.encode(hash)], 2, .endsBefore("the relying party")),
        ([Base64.encode(hash), "x"], 3, .endsBefore("the credential's identifier")),
        ([Base64.encode(hash), "x", "AA==", "AA=="], 4, .malformed("a salt has 32 bytes, two have 64")),
    ])
    func namesTheLine(_ lines: [String], _ line: Int, _ problem: FormatError.Problem) {
        #expect(throws: FormatError(line: line, problem)) {
            try AssertionRequest(libFIDO2: Array(lines.joined(separator: "\n").utf8), isResident: false)
        }
    }

    @Test func refusesDamagedRegistrations() async throws {
        let service = try await Self.service()
        var wanted = RegistrationRequest(
            clientDataHash: Self.hash, relyingParty: RelyingParty(id: "example.com"), user: FIDOUser(id: [1]))
        wanted.userVerification = .discouraged
        let lines = try await service.register(wanted).libFIDO2Lines(for: wanted)
        for (index, text, problem) in [
            (3, "AAAA", "the authenticator data is not a CBOR byte string"),
            (3, Base64.encode([0x41, 0]), "the authenticator data: "),
            (4, "AA==", "the identifier is not that of the credential"), (6, "?", "the certificate is not base64"),
        ] {
            var damaged = lines
            damaged[index] = text
            let error = #expect(throws: FormatError.self) {
                try ResponseFile(libFIDO2Registration: Self.text(damaged))
            }
            #expect(error?.line == index + 1 && error?.description.hasPrefix(problem) == true)
        }
        var other = lines
        other[2] = "fido-u2f"
        #expect(throws: Never.self) { try ResponseFile(libFIDO2Registration: Self.text(other)) }
        other[2] = "none"
        #expect(throws: FormatError.self) { try ResponseFile(libFIDO2Registration: Self.text(other)) }
        let error = try #require(throws: FormatError.self) {
            try ResponseFile(libFIDO2Registration: Self.text(Array(lines.prefix(3))))
        }
        expect(error.description(of: "f"), is: "f ends before the authenticator data")
        #expect(error.description == "the text ends before the authenticator data" && error.line == 4)
    }

    @Test func readsWebAuthnJSON() async throws {
        let service = try await Self.service()
        let client = WebAuthnClient(service: service, origin: try Origin("https://example.com"))
        var options = PublicKeyCredentialCreationOptions(
            rpID: "example.com", rpName: "Example", user: FIDOUser(id: [1], name: "a", displayName: "a"),
            challenge: [1, 2, 3])
        options.selection = AuthenticatorSelection(residentKey: .discouraged, userVerification: .discouraged)
        let made = try await client.create(options)
        for json: JSONValue in [made.json, ["credential": made.json]] {
            let stored = try ResponseFile(json: Array(json.text.utf8))
            #expect(stored.isRegistration && stored.credentialID == made.id && stored.clientData?.type == .create)
        }
        var wanted = PublicKeyCredentialRequestOptions(
            rpID: "example.com", challenge: [1], allowCredentials: [PublicKeyCredentialDescriptor(id: made.id)])
        wanted.userVerification = .discouraged
        let signed = try #require(try await client.get(wanted).first)
        let stored = try ResponseFile(json: Array(signed.json.text.utf8))
        #expect(!stored.isRegistration && stored.credentialID == made.id && stored.clientData?.type == .get)
        for text in ["", "{}", "[1]", #"{"response":{"attestationObject":1}}"#] {
            #expect(throws: FormatError.self) { try ResponseFile(json: Array(text.utf8)) }
        }
        #expect(throws: FormatError.self) { try COSEKey(pem: Array("no key".utf8)) }
        let other = Array(PEM.encode("PUBLIC KEY", [0x30, 0]).utf8)
        #expect(throws: FormatError.self) { try COSEKey(pem: other) }
    }

    @Test func extendsPAMMappings() async throws {
        let service = try await Self.service()
        var wanted = RegistrationRequest(
            clientDataHash: Self.hash, relyingParty: RelyingParty(id: "pam://lab"), user: FIDOUser(id: [1]))
        wanted.userVerification = .discouraged
        let made = try await service.register(wanted)
        let credential = try #require(made.response.authenticatorData.credential)
        let entry = try #require(PAMU2FEntry(credential, isResident: false, verification: .pin))
        #expect(entry.description.hasPrefix("\(Base64.encode(credential.id)),"))
        #expect(entry.description.hasSuffix(",es256,+presence+pin"))
        let own = try #require(PAMU2FEntry(credential, isResident: true, verification: .builtIn))
        #expect(own.description.hasPrefix("*,") && own.description.hasSuffix(",+presence+verification"))

        var mapping = PAMU2FMapping(Array("root:AAAA,AAAA,es256,+presence\r\n\nbob:*,BBBB,es256,+presence".utf8))
        #expect(mapping.credentialIDs(of: "root") == [[0, 0, 0]] && mapping.credentialIDs(of: "bob").isEmpty)
        #expect(mapping.credentialIDs(of: "ro").isEmpty)
        mapping.append(entry, to: "root")
        mapping.append(own, to: "eve")
        let text = String(decoding: mapping.bytes, as: UTF8.self)
        expect(
            text, is: "root:AAAA,AAAA,es256,+presence:\(entry)\nbob:*,BBBB,es256,+presence\neve:\(own)\n")
        expect(PAMU2FMapping(mapping.bytes).credentialIDs(of: "root"), is: [[0, 0, 0], credential.id])
        expect(PAMU2FMapping().bytes, is: [])
        let users = PAMU2FMapping(Array("a:x\n:AAAA,AA\na:*,AAAA,es256:AAAA:!,AAAA\n".utf8)).users
        expect(users.map(\.name), is: ["a"])
        expect(users[0].credentials.map(\.id), is: [nil, [0, 0, 0]])
        expect(users[0].credentials.map(\.publicKey), is: [[0, 0, 0], nil])
    }

    @Test func writesTypesOfPAM() throws {
        func entry(_ key: COSEKey) -> PAMU2FEntry? {
            PAMU2FEntry(.init(aaguid: [], id: [1], publicKey: key), isResident: false, verification: .presence)
        }
        let coordinate = [UInt8](repeating: 3, count: 32)
        let edwards = entry(COSEKey(okp: .ed25519, algorithm: .edDSA, x: coordinate))
        expect(edwards?.description, is: "AQ==,\(Base64.encode(coordinate)),eddsa,+presence")
        let rsa = entry(COSEKey(rsaModulus: [2, 2], exponent: [1, 0, 1], algorithm: .rs256))
        expect(rsa?.description, is: "AQ==,AgIBAAE=,rs256,+presence")
        let long = [UInt8](repeating: 3, count: 48)
        expect(entry(COSEKey(ec2: .p384, algorithm: .es384, x: long, y: long)), is: nil)
    }

    @Test func derivesSystemdPassphrases() async throws {
        let service = try await Self.service()
        let token = SystemdToken(
            rpID: SystemdToken.defaultRPID, credential: [], salt: Self.hash, isVerified: false, needsTouch: true)
        let enrolled = try await service.createCredential(for: token, random: SystemRandom())
        #expect(!enrolled.credential.isEmpty)
        let secret = try await service.secret(of: enrolled).value.copyBytes()
        let text = enrolled.json(keyslot: 3).text
        #expect(try SystemdToken.all(parsing: Array(text.utf8)) == [enrolled] && text.contains(#""keyslots":["3"]"#))
        let header = #"{"tokens":{"0":{"type":"luks2-keyring"},"1":\#(text)}}"#
        let read = try #require(try SystemdToken.all(parsing: Array(header.utf8)).first)
        #expect(try await service.secret(of: read).value.copyBytes() == secret && secret.count == 32)
        #expect(try SystemdToken.all(parsing: Array(#"{"type":"luks2-keyring"}"#.utf8)).isEmpty)
        var other = enrolled
        other.credential = [1, 2, 3]
        await #expect(throws: FIDOError.noCredentials) { try await service.secret(of: other) }
    }

    @Test func readsOldSystemdTokens() throws {
        let salt = Base64.encode(Self.hash)
        let old = #"{"type":"systemd-fido2","fido2-credential":"AA==","fido2-salt":"\#(salt)"}"#
        let token = try #require(try SystemdToken.all(parsing: Array(old.utf8)).first)
        #expect(token.isVerified && token.needsTouch && token.rpID == SystemdToken.defaultRPID)
        for (text, problem) in [
            ("{", "not JSON"), (#"{"type":"systemd-fido2"}"#, "the token has no fido2-credential in base64"),
            (
                #"{"type":"systemd-fido2","fido2-credential":"AA==","fido2-salt":"AA=="}"#,
                "the token's salt has 1 bytes"
            ),
        ] {
            let error = #expect(throws: FormatError.self) { try SystemdToken.all(parsing: Array(text.utf8)) }
            #expect(error?.line == nil && error?.description.hasPrefix(problem) == true)
        }
    }

    @Test func reportsInfoAsJSON() async throws {
        let info = try await Self.service().info()
        let members = Dictionary(uniqueKeysWithValues: info.members.map { ($0.name, $0.value) })
        #expect(info.members.map(\.name) == AuthenticatorInfo.memberNames && members["unknown"] == [:])
        #expect(members["aaguid"] == .string(Hex.uuid(info.aaguid)) && members["aaguid"]?.string?.count == 36)
        expect(members["algorithms"]?.array?.first?["name"], is: "ES256")
        expect(Hex.uuid([1, 2]), is: "0102")
    }

    @Test func writesCBORAsJSON() throws {
        let map: CBOR.Map = [
            "text": "a", 1: .bytes([1]), -1: .array([.unsigned(.max), .negative(3)]), .bytes([2]): true,
            "inner": .map([:]), "tag": .tagged(1, 5), "null": .simple(22),
        ]
        let json = JSONValue(CBOR.map(map))
        #expect(json["text"] == "a" && json["1"] == "AQ" && json["Ag"] == true && json["tag"] == 5)
        #expect(json["-1"] == ["18446744073709551615", -4] && json["inner"] == [:] && json["null"] == .null)
        expect(CBOR.bool(true).keyText, is: "\(CBOR.bool(true))")
    }
}
