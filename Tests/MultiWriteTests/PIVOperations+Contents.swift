// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

extension PIVOperations {
    /// Makes a key and a certificate for it, as `piv certificates generate` does.
    static func certify(_ link: sending any CardLink, _ name: String, makesKey: Bool) async throws {
        let service = try await open(link)
        try await manage(service)
        if makesKey { _ = try await service.generateKey(.authentication, .p256) }
        try await service.verify(pin("123456"))
        let certificate = try await service.selfSignedCertificate(
            .authentication, CertificateTemplate(subject: DistinguishedName("CN=\(name)")),
            validity: .seconds(365 * 86_400))
        try await service.putCertificate(certificate.der, .authentication, checking: true)
    }

    /// There is a certificate that can be read, and that belongs to the key, or none.
    static func isWhole(_ key: VirtualKey, names: Set<String>, mayLack: Bool) async throws {
        let service = try await open(key.link())
        do {
            let certificate = try await service.certificate(.authentication)
            try require(names.contains(certificate.subject.description), "the certificate of \(certificate.subject)")
            try await service.check(certificate, belongsTo: .authentication)
        } catch PIVError.noSuchObject { try require(mayLack, "the certificate") }
    }

    /// A key that was made elsewhere.
    static func foreignKey() throws -> PrivateKey {
        try PrivateKey(.p256, scalar: Secret([UInt8](repeating: 0x17, count: 32)))
    }

    /// Imports the key, and a certificate for it that was made elsewhere.
    static func importBoth(_ link: sending any CardLink) async throws {
        let elsewhere = try await open(VirtualKey(.new(DeviceProfile(serial: 1), random: ScatteredRandom())).link())
        try await manage(elsewhere)
        _ = try await elsewhere.importKey(try foreignKey(), .authentication)
        try await elsewhere.verify(pin("123456"))
        let certificate = try await elsewhere.selfSignedCertificate(
            .authentication, CertificateTemplate(subject: DistinguishedName("CN=imported")),
            validity: .seconds(365 * 86_400))
        let service = try await open(link)
        try await manage(service)
        _ = try await service.importKey(try foreignKey(), .authentication)
        try await service.putCertificate(certificate.der, .authentication, checking: true)
    }

    static func chuid(_ key: VirtualKey) async throws {
        let service = try await open(key.link())
        try require(try await service.chuid() != nil, "the CHUID")
    }

    static let contents: [Operation] = [
        Operation(
            name: "first certificate", isComposed: true, run: { try await certify($0, "one", makesKey: true) },
            holds: { try await isWhole($0, names: ["CN=one"], mayLack: true) },
            isDone: { try await isWhole($0, names: ["CN=one"], mayLack: false) }),
        Operation(
            name: "import a key and its certificate", isComposed: true, run: { try await importBoth($0) },
            holds: { key in
                let stored = key.state.piv.keys[0x9A]
                try require(stored?.isImported ?? true, "the imported key")
                try await isWhole(key, names: ["CN=imported"], mayLack: true)
            }, isDone: { try await isWhole($0, names: ["CN=imported"], mayLack: false) }),
        Operation(
            name: "another certificate", prepare: { try await certify($0.link(), "one", makesKey: true) },
            run: { try await certify($0, "two", makesKey: false) },
            holds: { try await isWhole($0, names: ["CN=one", "CN=two"], mayLack: false) },
            isDone: { try await isWhole($0, names: ["CN=two"], mayLack: false) }),
        Operation(
            name: "delete a certificate", prepare: { try await certify($0.link(), "one", makesKey: true) },
            run: { link in
                let service = try await open(link)
                try await manage(service)
                try await service.deleteCertificate(.authentication)
            }, holds: { try await isWhole($0, names: ["CN=one"], mayLack: true) },
            isDone: { key in
                do { _ = try await open(key.link()).certificate(.authentication) } catch PIVError.noSuchObject {
                    return
                }
                throw Lost("a certificate that is deleted")
            }),
        Operation(
            name: "move a key", prepare: { try await certify($0.link(), "one", makesKey: true) },
            run: { link in
                let service = try await open(link)
                try await manage(service)
                do { try await service.moveKey(from: .authentication, to: .signature) } catch PIVError.noKey {
                    _ = try await service.publicKey(.signature)  // It was moved before.
                }
            },
            holds: { key in
                let keys = key.state.piv.keys
                try require((keys[0x9A] == nil) != (keys[0x9C] == nil), "the key")
            }, isDone: { try require($0.state.piv.keys[0x9C] != nil, "the key in 9c") }),
        Operation(
            name: "CHUID and CCC", isComposed: true,
            run: { link in
                let service = try await open(link)
                try await manage(service)
                _ = try await service.makeCHUID()
                try await service.makeCapability()
            }, holds: { _ = try await open($0.link()).chuid() }, isDone: { try await chuid($0) }),
    ]
}
