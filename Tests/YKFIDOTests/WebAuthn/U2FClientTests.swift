// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// The WebAuthn client in U2F, and U2F's credentials in CTAP2.
struct U2FClientTests {
    /// A key that answers U2F only.
    final class U2FOnly: FIDOLink {
        private let link: HIDFIDOLink
        let environment = ServiceEnvironment.instant
        let generation = 0
        let profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: false, hasU2F: true)
        init(_ key: VirtualKey) throws { link = try HIDFIDOLink(key.reportLink(), environment: .instant) }
        func call(
            _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
        ) throws(FIDOLinkError) -> [UInt8] {
            guard command == .msg else { throw .refused(.invalidCommand) }
            return try link.call(command, payload, deadline: deadline, keepalive: keepalive)
        }
        func rest() {}
        func close() {}
    }

    @Test(arguments: [true, false])
    func registersAndSigns(_ isForced: Bool) async throws {
        let site = try await Site(.hid)
        let service =
            isForced ? site.client.service : try await FIDOService.open(try U2FOnly(site.bench.key))
        await expect(service.hasCTAP2, is: isForced)
        var client = WebAuthnClient(service: service, origin: try Origin(site.origin))
        client.usesU2F = isForced
        let made = try await client.create(Site.creation([:], extensions: ["credProps": true, "prf": [:]]))
        #expect(made.attestationObject.format == .fidoU2F && made.transports == [.usb])
        expect(made.clientExtensionResults["credProps"], is: ["rk": false])
        expect(made.clientExtensionResults["prf"], is: ["enabled": false])
        try site.verify(made)
        let signed = try #require(try await client.get(Site.request([[1, 2], made.id])).first)
        #expect(signed.id == made.id && signed.authenticatorData.flags == .userPresent)
        try site.verify(signed, by: made)
        await expect(.invalidState) {
            try await client.create(
                Site.creation(["excludeCredentials": [["type": "public-key", "id": made.json["id"] ?? nil]]]))
        }
        await expect(.notAllowed) { try await client.get(Site.request([[1]])) }
        await expect(.notAllowed) { try await client.get(Site.request()) }
        for selection in [["residentKey": "required"], ["userVerification": "required"]] as [JSONValue] {
            await expect(.constraint) {
                try await client.create(Site.creation(["authenticatorSelection": selection]))
            }
        }
        await expect(.constraint) { try await client.get(Site.request([made.id], ["userVerification": "required"])) }
        await expect(.notSupported) {
            try await client.create(Site.creation(["pubKeyCredParams": [["type": "public-key", "alg": -8]]]))
        }
        await expect(.notSupported) {
            try await client.create(
                Site.creation(
                    [:],
                    extensions: [
                        "credentialProtectionPolicy": "userVerificationRequired",
                        "enforceCredentialProtectionPolicy": true,
                    ]))
        }
        let preferred = try await client.create(
            Site.creation(["authenticatorSelection": ["residentKey": "preferred"], "attestation": "none"]))
        expect(preferred.attestationObject.format, is: .none)
    }

    /// A credential that U2F made for an AppID signs under FIDO2, and keeps a second one away.
    @Test(arguments: [true, false])
    func usesCredentialsOfAnAppID(_ isCTAP2: Bool) async throws {
        let site = try await Site(.hid)
        let appID = "https://example.com/u2f.json"
        let application = HashAlgorithm.sha256.hash(appID.utf8)
        let old = try await site.client.service.u2fRegister(challengeHash: hash, applicationHash: application)
        var client = site.client
        client.usesU2F = !isCTAP2
        let request = try Site.request([[9], old.keyHandle], extensions: ["appid": .string(appID)])
        let signed = try #require(try await client.get(request).first)
        expect(signed.clientExtensionResults["appid"], is: true)
        expect(signed.authenticatorData.rpIDHash, is: application)
        let data = try ClientData(parsing: try #require(signed.clientDataJSON))
        try AssertionVerification(rpID: appID, publicKey: old.coseKey).check(
            signed.authenticatorData, signature: signed.signature, clientDataHash: data.hash)
        let excluded: JSONValue = [["type": "public-key", "id": .string(Base64.encodeURL(old.keyHandle))]]
        await expect(.invalidState) {
            try await client.create(
                Site.creation(["excludeCredentials": excluded], extensions: ["appidExclude": .string(appID)]))
        }
        let made = try await client.create(
            Site.creation(["excludeCredentials": excluded], extensions: ["appidExclude": ""]))
        expect(made.clientExtensionResults["appidExclude"], is: true)
        let own = try #require(
            try await client.get(Site.request([made.id], extensions: ["appid": .string(appID)])).first)
        expect(own.clientExtensionResults["appid"], is: false)
        try site.verify(own, by: made)
    }

    @Test func refusesForeignAppIDs() async throws {
        let site = try await Site()
        for appID in ["https://example.org", "http://example.com", "https://evil.com/example.com", "nonsense"] {
            await expect(.security) {
                try await site.client.get(Site.request([[1]], extensions: ["appid": .string(appID)]))
            }
        }
        await expect(.notSupported) { try await site.client.get(Site.request([[1]], extensions: ["appidExclude": ""])) }
        await expect(.notSupported) { try await site.client.create(Site.creation([:], extensions: ["appid": ""])) }
    }

    /// A key that always verifies its user has no U2F: that is an answer, not a failure, where CTAP2 is spoken.
    @Test func doesWithoutU2F() async throws {
        let site = try await Site(.hid, pin: "12345")
        try await site.client.service.configure(.toggleAlwaysUV)
        await #expect(throws: WebAuthnError.key(.noCredentials)) {
            try await site.client.get(Site.request([[9]], extensions: ["appid": "https://example.com"]))
        }
    }
}
