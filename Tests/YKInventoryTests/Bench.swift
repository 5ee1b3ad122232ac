// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKFIDO
import YKInventory
import YKKeys
import YKOATH
import YKOpenPGP
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// A virtual key that is touched where needed, and the ways to fill it.
struct Bench {
    static let pin = "123456"
    let device: VirtualKey

    init(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32 = 1) throws {
        device = try VirtualKey.new(version, serial: serial, inputs: VirtualInputs(touch: { _ in .touched }))
    }

    init(_ model: DeviceModel) throws {
        device = try VirtualKey.new(model, inputs: VirtualInputs(touch: { _ in .touched }))
    }

    func key(_ faults: FaultPlan = FaultPlan()) async throws -> Key {
        try await KeyRing(source: .virtual(device, faults: faults), environment: .instant).only()
    }

    /// Reads with the PIN, which lists passkeys, or without.
    func read(_ references: [CredentialReference] = [], pin: String? = nil) async throws -> InventoryReader.Reading {
        var reader = InventoryReader(try await key())
        reader.references = references
        reader.listsPasskeys = pin != nil
        reader.interaction = FIDOInteraction(pin: { _ in pin.map { secret($0) } })
        return try await reader.read(at: 1000)
    }

    func fido() async throws -> FIDOService {
        try await key().open(FIDOService.self, interaction: FIDOInteraction(pin: { _ in secret(Self.pin) }))
    }

    func setPIN() async throws {
        let service = try await fido()
        try await service.setPIN(secret(Self.pin))
        await service.close()
    }

    /// A new credential; returns its identifier and public key.
    @discardableResult
    func register(
        _ rpID: String, user: String = "alice", isResident: Bool = false, protection: CredentialProtection? = nil
    ) async throws -> (id: [UInt8], key: COSEKey) {
        var request = RegistrationRequest(
            clientDataHash: [UInt8](repeating: 1, count: 32), relyingParty: RelyingParty(id: rpID),
            user: FIDOUser(id: Array(user.utf8), name: user))
        request.isResident = isResident
        request.userVerification = .discouraged
        request.extensions.protection = protection
        let service = try await fido()
        let made = try await service.register(request).response.authenticatorData.credential
        await service.close()
        let credential = try #require(made)
        return (credential.id, credential.publicKey)
    }

    func put(
        _ name: String, secret: String = "12345678901234567890", type: OATHType = .totp, touch: Bool = false
    ) async throws {
        let service = try await key().open(OATHService.self)
        try await service.put(
            NewOATHAccount(
                id: OATHAccountID(issuer: "Acme", name: name, type: type), secret: Secret(utf8: secret),
                needsTouch: touch))
        await service.close()
    }

    /// A key in a slot, with a certificate for a name if given.
    @discardableResult
    func generate(_ slot: PIVSlot, subject: String? = nil) async throws -> PublicKey {
        let service = try await key().open(PIVService.self)
        try await service.authenticate(with: .defaultKey())
        let made = try await service.generateKey(slot, .p256)
        if let subject {
            try await service.verify(.defaultPIN())
            let certificate = try await service.selfSignedCertificate(
                slot, CertificateTemplate(subject: try DistinguishedName(subject)), validity: .seconds(864_000))
            try await service.putCertificate(certificate.der, slot)
        }
        await service.close()
        return made
    }
}

extension Inventory {
    func items(_ kind: Kind) -> [Item] { items.filter { $0.kind == kind } }
}
