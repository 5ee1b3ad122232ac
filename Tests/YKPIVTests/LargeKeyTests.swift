// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

/// RSA of 3072 and 4096 bits, and what openssl says of attestations.
struct LargeKeyTests {
    @Test func generates() async throws {
        let (service, key) = try await Bench().with(.rsa3072, .keyManagement)
        expect(PIVAlgorithm(key), is: .rsa3072)
        try await service.verify(pin())
        let signature = try await service.sign(.message([1, 2]), .keyManagement, hash: .sha512, padding: .pss)
        #expect(signature.count == 384 && key.isValid(signature, for: [1, 2], .sha512, .pss))
    }

    @Test(arguments: [(3072, PIVAlgorithm.rsa3072), (4096, .rsa4096)])
    func imports(_ bits: Int, _ algorithm: PIVAlgorithm) async throws {
        let made = try run(["openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)"])
        let key = try #require(try KeyFile(made.output).privateKey)
        let service = try await Bench().manage()
        try await expect(service.importKey(key, .signature, policies: KeyPolicies(pin: .once)), is: algorithm)
        try await service.verify(pin())
        let signature = try await service.sign(.message([1, 2]), .signature)
        #expect(key.publicKey.isValid(signature, for: [1, 2], .sha256))
        let padded = [0, 2] + [UInt8](repeating: 1, count: bits / 8 - 4) + [0, 7]
        let sealed = try key.publicKey.rsaPublic(padded)
        try await expect(service.decrypt(sealed, .signature, padding: .pkcs1).value.copyBytes(), is: [7])
        let template = CertificateTemplate(subject: try DistinguishedName("CN=large"))
        let certificate = try await service.selfSignedCertificate(.signature, template, validity: .seconds(86_400))
        try await service.putCertificate(certificate.der, .signature)
        #expect(try await service.certificate(.signature).isSigned(by: key.publicKey))
    }

    @Test(arguments: [FirmwareVersion(4, 3, 5), FirmwareVersion(5, 4, 3), FirmwareVersion(5, 7, 1)])
    func openSSLVerifiesAttestations(_ version: FirmwareVersion) async throws {
        let bench = try Bench(version)
        let (service, _) = try await bench.with(.p384, .keyManagement)
        let path = "/tmp/ykpiv-chain.\(UInt64.random(in: 0 ... .max))"
        defer { _ = try? run(["sh", "-c", "rm \(path).*"]) }
        let chain = [
            "root": bench.key.state.piv.attestationRoot, "device": try await service.certificate(.attestation).der,
            "leaf": try await service.attest(.keyManagement).der,
        ]
        for (name, der) in chain { try write(Array(PEM.encode("CERTIFICATE", der).utf8), "\(path).\(name)") }
        let command = ["openssl", "verify", "-CAfile", "\(path).root", "-untrusted", "\(path).device", "\(path).leaf"]
        try expect(run(command).status, is: 0)
        let without = ["openssl", "verify", "-CAfile", "\(path).root", "\(path).leaf"]
        #expect(try run(without).status != 0)
    }
}
