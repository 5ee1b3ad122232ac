// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO
import YKTestSupport
import YKWire

extension Operation {
    /// Every command that has an answer, and every subcommand.
    static let all: [Operation] = ceremonies + pins + credentials + fingerprints + others

    private static let ceremonies: [Operation] = [
        Operation("getInfo", [.map(info)]) { _ = try await $0.freshInfo() },
        Operation("makeCredential", [.map(made)]) { _ = try await $0.register(registration()) },
        Operation("getAssertion", [.map(signed.with(5, 2)), .map(signed)]) {
            _ = try await $0.assert(AssertionRequest(rpID: "example.com", clientDataHash: hash))
        },
        Operation("selection", [.nothing]) { try await $0.select() },
        Operation("reset", [.nothing]) { try await $0.reset() },
    ]

    private static let pins: [Operation] = [
        Operation("getPINRetries", [.map([3: 8, 4: false])]) { _ = try await $0.pinRetries() },
        Operation("getUVRetries", [.map([5: 3])]) { _ = try await $0.uvRetries() },
        Operation("setPIN", [.map([1: .map(agreementKey)]), .nothing]) { try await $0.setPIN(secret("12345")) },
    ]

    private static let credentials: [Operation] = [
        Operation("getCredsMetadata", [.map([1: 1, 2: 20])]) { _ = try await $0.credentialStorage() },
        Operation("enumerateRPs", [.map(party.with(5, 2)), .map(party)]) { _ = try await $0.relyingParties() },
        Operation(
            "enumerateCredentials", [.map(party.with(5, 1)), .map(stored.with(9, 2)), .map(stored)]
        ) { service in
            guard let party = try await service.relyingParties().first else { return }
            _ = try await service.credentials(of: party)
        },
        Operation("deleteCredential", [.nothing]) { try await $0.delete(CredentialDescriptor(id: [1])) },
        Operation("updateUserInformation", [.nothing]) {
            try await $0.update(CredentialDescriptor(id: [1]), user: FIDOUser(id: [1], name: "bob"))
        },
    ]

    private static let fingerprints: [Operation] = [
        Operation("getFingerprintSensorInfo", [.map([2: 1, 3: 5, 8: 20])]) { _ = try await $0.fingerprintSensor() },
        Operation("enumerateEnrollments", [.map([7: [[1: .bytes([1]), 2: "thumb"]]])]) {
            _ = try await $0.fingerprints()
        },
        Operation("enroll", [.map([4: .bytes([1]), 5: 0, 6: 1]), .map([5: 0, 6: 0])]) { service in
            _ = try await service.nextSample(of: try await service.beginEnrollment().template)
        },
        Operation("cancelCurrentEnrollment", [.nothing]) { try await $0.cancelEnrollment() },
        Operation("setFriendlyName", [.nothing]) { try await $0.renameFingerprint([1], to: "thumb") },
        Operation("removeEnrollment", [.nothing]) { try await $0.removeFingerprint([1]) },
    ]

    private static let others: [Operation] = [
        Operation("largeBlobs get", [.map(blobs)]) { _ = try await $0.largeBlobUsage() },
        Operation("largeBlobs set", [.map(blobs), .nothing]) {
            try await $0.setLargeBlob([1], key: SharedSecret(Secret([UInt8](repeating: 1, count: 32))))
        },
        Operation("toggleAlwaysUv", [.nothing, .map(info("alwaysUv"))]) { try await $0.configure(.toggleAlwaysUV) },
        Operation("enableEnterpriseAttestation", [.nothing, .map(info("ep"))]) {
            try await $0.configure(.enableEnterpriseAttestation)
        },
        Operation("enableLongTouchForReset", [.nothing, .map(info.with(24, true))]) {
            try await $0.configure(.enableLongTouchForReset)
        },
    ]

    /// A key's side of an agreement: the generator of P-256.
    static let agreementKey: CBOR.Map = {
        var scalar = [UInt8](repeating: 0, count: 32)
        scalar[31] = 1
        let point = (try? P256KeyAgreement(scalar: Secret(scalar)).publicPoint) ?? []
        return COSEKey(
            ec2: .p256, algorithm: .ecdhESHKDF256, x: Array(point.prefix(32)), y: Array(point.dropFirst(32))
        ).map
    }()
}
