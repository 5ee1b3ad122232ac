// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKCrypto
import YKPIV
import YKTransport
import YKWire
import YKX509

extension FuzzTarget {
    static let piv: [FuzzTarget] = [
        FuzzTarget(name: "piv-report") { bytes in
            withPIV(pieces(bytes)) { _ = try await $0.report(.all).brokenFIPSRules }
        },
        FuzzTarget(name: "piv-session") { bytes in
            guard let choice = bytes.first else { return }
            let work = pivOperations[Int(choice) % pivOperations.count]
            withPIV(pieces(Array(bytes.dropFirst())), work)
        },
        FuzzTarget(name: "piv-objects") { bytes in
            if let chuid = try? CHUID(decoding: bytes) {
                let again = try? CHUID(decoding: chuid.encoded)  // Other objects are put into the order of their tags.
                require(again?.encoded == chuid.encoded && again?.guid == chuid.guid, "a CHUID changes on its way")
                _ = chuid.guidText + (chuid.fascn?.description ?? "")
            }
            if let notes = try? PIVAdministration(decoding: bytes) {
                require((try? PIVAdministration(decoding: notes.encoded)) == notes, "notes change on their way")
            }
            _ = try? DiscoveryObject(decoding: bytes)
            _ = try? CardCapability.identifier(decoding: bytes)
        },
        FuzzTarget(name: "piv-certificate") { bytes in
            if let object = try? CertificateObject(decoding: bytes), let der = try? object.certificate() {
                require(der.count <= max(bytes.count, CertificateObject.inflatedLimit), "an object inflates too far")
                read(der)
            }
            read(bytes)
        },
        FuzzTarget(name: "piv-name") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if let name = try? DistinguishedName(text) {
                require((try? DistinguishedName(name.description))?.description == name.description, "a name changes")
            }
            _ = try? AlternativeName(text)
        },
        FuzzTarget(name: "piv-file") { bytes in
            guard KeyDerivationRounds.total(in: bytes) < 10_000 else { return }
            _ = try? KeyFile(bytes)
            _ = try? KeyFile(bytes, password: SharedSecret(Secret(utf8: "secret")))
        },
    ]
}

private func read(_ der: [UInt8]) {
    guard let certificate = try? X509Certificate(der: der) else { return }
    _ = try? PIVAttestation(certificate)
    if let key = certificate.publicKey { _ = certificate.isSigned(by: key) }
    let chain = AttestationChain(roots: [certificate])
    _ = try? chain.verify(certificate, device: certificate, at: 1_760_000_000)
}

private let yubiKey: [UInt8] = [0x3B, 0xF8, 0x13, 0, 0, 0x81, 0x31, 0xFE, 0x15] + "Yubikey4".utf8 + [0xD4]

/// Opens the PIV application of a scripted card and does `work`, waiting for the end of it. The first reply is that to
/// GET VERSION.
private func withPIV(_ replies: [[UInt8]], _ work: @escaping @Sendable (PIVService) async throws -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let environment = ServiceEnvironment(clock: FixedClock(1_760_000_000), timeout: .seconds(5))
        let channel = CardChannel(link: ScriptedCard([[0x90, 0x00]] + replies, atr: yubiKey), environment: environment)
        if let service = try? await PIVService.open(channel) { try? await work(service) }
        done.signal()
    }
    done.wait()
}

private let pivOperations: [@Sendable (PIVService) async throws -> Void] = [
    { try await $0.verify(.defaultPIN()) },
    { try await $0.authenticate(with: .defaultKey()) },
    { try await $0.authenticate(withProtectedKeyOf: .defaultPIN()) },
    { _ = try await $0.generateKey(.signature, .p256) },
    { _ = try await $0.generateKey(.signature, .rsa2048, allowingWeakRSA: true) },
    { _ = try await $0.generateKey(.signature, .ed25519) },
    { _ = try await $0.sign(.message([1, 2, 3]), .signature) },
    { _ = try await $0.decrypt([UInt8](repeating: 1, count: 256), .keyManagement, padding: .pkcs1) },
    { _ = try await $0.decrypt([UInt8](repeating: 1, count: 256), .keyManagement, padding: .oaep(.sha256)) },
    { _ = try await $0.derive(with: .x25519([UInt8](repeating: 9, count: 32)), .keyManagement) },
    { _ = try await $0.publicKey(.authentication) },
    { _ = try PIVAttestation(try await $0.attest(.authentication)) },
    { _ = try await $0.certificate(.authentication) },
    { _ = try await $0.verifyFingerprint(wantsTemporaryPIN: true) },
    { _ = try await $0.fingerprintMetadata() },
    { _ = try await $0.updateCHUID() },
    { try await $0.setManagementKey(.defaultKey(), type: .tripleDES, protected: true) },
    { try await $0.changePIN(from: .defaultPIN(), to: .defaultPIN()) },
    { try await $0.moveKey(from: .authentication, to: .signature) },
    { try await $0.reset() },
    {
        let template = CertificateTemplate(subject: try DistinguishedName("CN=fuzz"))
        _ = try await $0.selfSignedCertificate(.authentication, template, validity: .seconds(86_400))
    },
]
