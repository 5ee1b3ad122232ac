// SPDX-License-Identifier: Apache-2.0

import Testing
import YKCrypto
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire
import YKX509

struct KeyTests {
    static let algorithms: [PIVAlgorithm] = [.rsa1024, .rsa2048, .p256, .p384, .ed25519]
    static let hashes: [HashAlgorithm] = [.sha1, .sha256, .sha384, .sha512]

    @Test(arguments: KeyTests.algorithms)
    func signsWhatCryptoLibrariesVerify(_ algorithm: PIVAlgorithm) async throws {
        let (service, key) = try await Bench().with(algorithm)
        try await expect(service.publicKey(.authentication), is: key)
        expect(PIVAlgorithm(key), is: algorithm)
        try await service.verify(pin())
        let message = Array("to be signed".utf8)
        for hash in Self.hashes {
            let signature = try await service.sign(.message(message), .authentication, hash: hash)
            #expect(key.isValid(signature, for: message, hash))
            #expect(!key.isValid(signature, for: message + [0], hash))
            guard algorithm != .ed25519 else { continue }
            let again = try await service.sign(.digest(hash.hash(message)), .authentication, hash: hash)
            #expect(key.isValid(again, for: message, hash))
            let hashed = RunningHash(hash, of: message)
            let third = try await service.sign(.hashed(hashed), .authentication, key: key)
            #expect(key.isValid(third, for: message, hash))
            let other = try await service.generateKey(.signature, algorithm)
            await #expect(throws: PIVError.wrongSignature(.authentication)) {
                try await service.sign(.hashed(hashed), .authentication, key: other)
            }
        }
    }

    @Test func signsWithPSS() async throws {
        let (service, key) = try await Bench().with(.rsa2048)
        try await service.verify(pin())
        for hash in Self.hashes {
            let signature = try await service.sign(.message([1, 2, 3]), .authentication, hash: hash, padding: .pss)
            #expect(key.isValid(signature, for: [1, 2, 3], hash, .pss))
            #expect(!key.isValid(signature, for: [1, 2, 3], hash))
        }
        let (small, _) = try await Bench().with(.rsa1024)
        try await small.verify(pin())
        await #expect(throws: PIVError.badInput("PSS: the key is too short for this")) {
            try await small.sign(.message([1]), .authentication, hash: .sha512, padding: .pss)
        }
    }

    @Test func decryptsBothPaddings() async throws {
        let (service, key) = try await Bench().with(.rsa2048, .keyManagement)
        try await service.verify(pin())
        let padded = [0, 2] + [UInt8](repeating: 0xA5, count: 256 - 3 - 5) + [0] + Array("hello".utf8)
        let opened = try await service.decrypt(try key.rsaPublic(padded), .keyManagement, padding: .pkcs1)
        expect(opened.value.copyBytes(), is: Array("hello".utf8))
        let folder = "/tmp/ykpiv-key.\(UInt64.random(in: 0 ... .max)).pem"
        try write(Array(PEM.encode("PUBLIC KEY", key.subjectPublicKeyInfo).utf8), folder)
        for (name, hash) in [("sha1", HashAlgorithm.sha1), ("sha256", .sha256), ("sha512", .sha512)] {
            let sealed = try run(
                [
                    "openssl", "pkeyutl", "-encrypt", "-pubin", "-inkey", folder, "-pkeyopt", "rsa_padding_mode:oaep",
                    "-pkeyopt", "rsa_oaep_md:\(name)", "-pkeyopt", "rsa_mgf1_md:\(name)",
                ], input: Array("secret".utf8))
            expect(sealed.status, is: 0)
            let opened = try await service.decrypt(sealed.output, .keyManagement, padding: .oaep(hash))
            expect(opened.value.copyBytes(), is: Array("secret".utf8))
        }
        _ = try run(["rm", folder])
        await #expect(throws: PIVError.notDecrypted) {
            try await service.decrypt(try key.rsaPublic(padded), .keyManagement, padding: .oaep(.sha256))
        }
        await #expect(throws: PIVError.badInput("rsa2048 decrypts 256 bytes, not 3")) {
            try await service.decrypt([1, 2, 3], .keyManagement, padding: .pkcs1)
        }
    }

    @Test(arguments: [PIVAlgorithm.p256, .p384, .x25519])
    func agreesOnASecret(_ algorithm: PIVAlgorithm) async throws {
        let (service, key) = try await Bench().with(algorithm, .keyManagement)
        let number = Secret([UInt8](repeating: 0x42, count: algorithm.curve?.fieldSize ?? 32))
        let other: PrivateKey
        if let curve = algorithm.curve {
            other = try PrivateKey(curve, scalar: number)
        } else {
            other = try PrivateKey(x25519: number)
        }
        try await service.verify(pin())
        let ours = try await service.derive(with: other.publicKey, .keyManagement)
        try expect(ours.value.copyBytes(), is: other.shared(with: key).value.copyBytes())
        await #expect(throws: PIVError.unfitPeer(algorithm)) {
            try await service.derive(with: .ed25519([UInt8](repeating: 1, count: 32)), .keyManagement)
        }
    }

    @Test func refusesWhatAKeyCannotDo() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.x25519)
        await #expect(throws: PIVError.unfit(.x25519, for: .sign)) {
            try await service.sign(.message([1]), .authentication)
        }
        await #expect(throws: PIVError.unfit(.x25519, for: .decrypt)) {
            try await service.decrypt([1], .authentication, padding: .pkcs1)
        }
        _ = try await service.generateKey(.signature, .ed25519)
        await #expect(throws: PIVError.badInput("Ed25519 signs the message itself, not its digest")) {
            try await service.sign(.digest([1]), .signature)
        }
        await #expect(throws: PIVError.badInput("Ed25519 signs the message itself, not its digest")) {
            try await service.sign(.hashed(RunningHash(.sha256)), .signature)
        }
        _ = try await service.generateKey(.keyManagement, .p256)
        await #expect(throws: PIVError.badInput("a digest of 1 bytes does not match the given hash")) {
            try await service.sign(.digest([1]), .keyManagement)
        }
        await #expect(throws: PIVError.noKey(.cardAuthentication)) {
            try await service.sign(.message([1]), .cardAuthentication)
        }
        await #expect(throws: PIVError.noKey(.cardAuthentication)) {
            try await service.sign(.message([1]), .cardAuthentication, algorithm: .p256)
        }
        await #expect(throws: PIVError.unusableSlot(PIVSlot(rawValue: 0x9B))) {
            try await service.sign(.message([1]), PIVSlot(rawValue: 0x9B))
        }
    }

    @Test func keepsThePolicies() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256, .signature)
        let input = SigningInput.message([1])
        await #expect(throws: PIVError.pinRequired) { try await service.sign(input, .signature) }
        try await service.verify(pin())
        _ = try await service.sign(input, .signature)
        await #expect(throws: PIVError.pinRequired) { try await service.sign(input, .signature) }
        try await expect(service.metadata(of: .signature)?.policies, is: KeyPolicies(pin: .always, touch: .never))

        _ = try await service.generateKey(.authentication, .p256, policies: KeyPolicies(pin: .never, touch: .always))
        bench.finger.set(.notTouched)
        await #expect(throws: PIVError.touchTimeout) { try await service.sign(input, .authentication) }
        _ = try await service.generateKey(.keyManagement, .p256, policies: KeyPolicies(touch: .cached))
        await #expect(throws: PIVError.touchTimeout) { try await service.sign(input, .keyManagement) }
        try await service.forgetPIN()
        await #expect(throws: PIVError.pinRequired) { try await service.sign(input, .keyManagement) }
        try await service.verify(pin())
        await #expect(throws: PIVError.touchTimeout) { try await service.sign(input, .keyManagement) }
        bench.finger.set(.touched)
        _ = try await service.sign(input, .keyManagement)
        bench.finger.set(.notTouched)
        _ = try await service.sign(input, .keyManagement)
        expect(bench.finger.asked.last, is: "PIV 9d")
        await #expect(throws: PIVError.touchTimeout) { try await service.sign(input, .authentication) }
    }

    @Test(arguments: [
        ("rsa:1024", PIVAlgorithm.rsa1024), ("rsa:2048", .rsa2048), ("ec:P-256", .p256), ("ec:P-384", .p384),
        ("ed25519", .ed25519), ("x25519", .x25519),
    ])
    func importsKeysThatOpenSSLMade(_ kind: String, _ algorithm: PIVAlgorithm) async throws {
        let parts = kind.split(separator: ":").map(String.init)
        var arguments = ["openssl", "genpkey", "-algorithm", parts[0].uppercased()]
        if parts[0] == "rsa" { arguments += ["-pkeyopt", "rsa_keygen_bits:\(parts[1])"] }
        if parts[0] == "ec" { arguments += ["-pkeyopt", "ec_paramgen_curve:\(parts[1])"] }
        let made = try run(arguments)
        expect(made.status, is: 0)
        let key = try #require(try KeyFile(made.output).privateKey)
        let service = try await Bench().manage()
        try await expect(service.importKey(key, .retired(1)!, policies: KeyPolicies(pin: .never)), is: algorithm)
        let metadata = try await service.metadata(of: .retired(1)!)
        expect(metadata?.publicKey, is: key.publicKey)
        expect(metadata?.origin, is: .imported)
        if algorithm != .x25519 {
            let signature = try await service.sign(.message([1, 2]), .retired(1)!)
            #expect(key.publicKey.isValid(signature, for: [1, 2], .sha256))
        }
        await #expect(throws: PIVError.notAttestable(.retired(1)!)) { try await service.attest(.retired(1)!) }
    }

    @Test func refusesKeysThatNoCardTakes() async throws {
        let service = try await Bench().manage()
        let p521 = try KeyFile(run(["openssl", "ecparam", "-name", "secp521r1", "-genkey", "-noout"]).output)
        await #expect(throws: PIVError.unsupportedKey("P-521")) {
            try await service.importKey(#require(p521.privateKey), .authentication)
        }
        let odd = try KeyFile(
            run([
                "openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:1024", "-pkeyopt",
                "rsa_keygen_pubexp:3",
            ]).output)
        await #expect(throws: PIVError.badInput("cards accept only RSA keys with the public exponent 65537")) {
            try await service.importKey(#require(odd.privateKey), .authentication)
        }
    }

    @Test func movesAndDeletesKeys() async throws {
        let (service, key) = try await Bench().with(.p256)
        try await service.moveKey(from: .authentication, to: .retired(20)!)
        try await expect(service.publicKey(.retired(20)!), is: key)
        await #expect(throws: PIVError.noKey(.authentication)) {
            try await service.moveKey(from: .authentication, to: .signature)
        }
        let other = try await service.generateKey(.signature, .p256)
        await #expect(throws: PIVError.occupied(.signature)) {
            try await service.moveKey(from: .retired(20)!, to: .signature)
        }
        await #expect(throws: PIVError.noKey(.authentication)) {
            try await service.moveKey(from: .authentication, to: .signature, replacing: true)
        }
        try await expect(service.publicKey(.signature), is: other)
        try await service.moveKey(from: .retired(20)!, to: .signature, replacing: true)
        try await expect(service.publicKey(.signature), is: key)
        try await service.moveKey(from: .signature, to: .retired(20)!)
        try await service.deleteKey(.retired(20)!)
        await #expect(throws: PIVError.noKey(.retired(20)!)) { try await service.deleteKey(.retired(20)!) }
        await #expect(throws: PIVError.unusableSlot(.attestation)) {
            try await service.moveKey(from: .authentication, to: .attestation)
        }
        let old = try await Bench(FirmwareVersion(5, 4, 3)).manage()
        await #expect(
            throws: PIVError.unsupported(.moveKey, needs: FirmwareVersion(5, 7, 0), has: FirmwareVersion(5, 4, 3))
        ) {
            try await old.deleteKey(.authentication)
        }
        let locked = try await Bench().open()
        await #expect(throws: PIVError.managementKeyRequired) { try await locked.deleteKey(.authentication) }
    }

    @Test func gatesByFirmware() async throws {
        let four = try await Bench(FirmwareVersion(4, 3, 4)).manage()
        await #expect(throws: PIVError.weakGeneration(FirmwareVersion(4, 3, 4))) {
            try await four.generateKey(.authentication, .rsa2048)
        }
        _ = try await four.generateKey(.authentication, .rsa1024, allowingWeakRSA: true)
        let curve = PIVError.unsupported(.curve25519, needs: FirmwareVersion(5, 7, 0), has: FirmwareVersion(4, 3, 4))
        await #expect(throws: curve) { try await four.generateKey(.authentication, .ed25519) }
        let large = PIVError.unsupported(.largeRSA, needs: FirmwareVersion(5, 7, 0), has: FirmwareVersion(5, 4, 3))
        let five = try await Bench(FirmwareVersion(5, 4, 3)).manage()
        await #expect(throws: large) { try await five.generateKey(.authentication, .rsa4096) }
        let finger = PIVError.unsupported(.fingerprints, needs: FirmwareVersion(5, 6, 0), has: FirmwareVersion(5, 4, 3))
        await #expect(throws: finger) {
            try await five.generateKey(.authentication, .p256, policies: KeyPolicies(pin: .matchOnce))
        }
        await expect(four.identity.warnings.map(\.advisory), is: ["YSA-2017-01"])
        await expect(five.identity.warnings.map(\.advisory), is: ["YSA-2024-03"])
        try await expect(Bench(FirmwareVersion(4, 4, 4)).open().identity.warnings.map(\.advisory), is: ["YSA-2019-02"])
        #expect(try await Bench().open().identity.warnings.isEmpty)
        try await expect(four.serial(), is: nil)
        try await expect(five.serial(), is: 4711)
        let other = try await ScriptedLink.service(atr: ScriptedLink.unknown, [0x47: [0x6A, 0x81]])
        await #expect(throws: PIVError.unsupportedAlgorithm(.ed25519)) {
            try await other.generateKey(.authentication, .ed25519)
        }
    }

    @Test func worksWithoutMetadata() async throws {
        let (service, key) = try await Bench(FirmwareVersion(4, 3, 5)).with(.p256)
        try await expect(service.publicKey(.authentication), is: key)
        try await expect(service.findAlgorithm(.authentication), is: .p256)
        try await service.verify(pin())
        let signature = try await service.sign(.message([9]), .authentication)
        #expect(key.isValid(signature, for: [9], .sha256))
        await #expect(throws: PIVError.unknownKey(.signature)) { try await service.publicKey(.signature) }
        try await expect(service.metadata(of: .authentication), is: nil)
    }

    @Test func attestsWithAChainToItsRoot() async throws {
        let bench = try Bench()
        let (service, key) = try await bench.with(.rsa1024, .signature, policies: KeyPolicies(touch: .cached))
        let attestation = try await service.attest(.signature)
        expect(attestation.publicKey, is: key)
        let facts = try PIVAttestation(attestation)
        expect(facts.firmware, is: FirmwareVersion(5, 7, 1))
        expect(facts.serial, is: 4711)
        expect(facts.policies, is: KeyPolicies(pin: .always, touch: .cached))
        expect(facts.formFactor, is: 1)
        expect(facts.slot, is: .signature)
        let device = try await service.certificate(.attestation)
        let root = try X509Certificate(der: bench.key.state.piv.attestationRoot)
        let path = try AttestationChain(roots: [root]).verify(attestation, device: device, at: 1_795_000_000)
        expect(path.map(\.subject.description).last, is: "CN=ykit virtual PIV root")
        #expect(throws: PIVError.chain(.noIssuer(subject: "CN=ykit virtual PIV attestation"))) {
            try AttestationChain(roots: []).verify(attestation, device: device, at: 1_795_000_000)
        }
        #expect(throws: PIVError.chain(.notSignedByDevice)) {
            try AttestationChain(roots: [root]).verify(device, device: attestation, at: 1_795_000_000)
        }
        #expect(throws: PIVError.chain(.notValidNow(subject: "CN=ykit virtual PIV root"))) {
            try AttestationChain(roots: [root]).verify(attestation, device: device, at: 0)
        }
        await #expect(throws: PIVError.noKey(.keyManagement)) { try await service.attest(.keyManagement) }
        await #expect(throws: PIVError.notAttestable(.attestation)) { try await service.attest(.attestation) }
    }

    @Test func forgetsThePINWhenTheCardGoes() async throws {
        let bench = try Bench()
        let (service, _) = try await bench.with(.p256)
        try await service.verify(pin())
        await service.rest()
        let other = try await bench.open()
        _ = try await other.serial()
        await other.rest()
        await #expect(throws: PIVError.pinRequired) { try await service.sign(.message([1]), .authentication) }
        let link = ScriptedLink { command throws(LinkError) in
            switch command[1] {
            case 0x87: throw LinkError.removed
            case 0xFD: return [5, 7, 1, 0x90, 0x00]
            default: return [0x90, 0x00]
            }
        }
        let gone = try await PIVService.open(CardChannel(link: link, environment: .still))
        try await gone.verify(pin())
        await #expect(throws: PIVError.card(.link(.removed))) {
            try await gone.sign(.message([1]), .authentication, algorithm: .p256)
        }
    }
}
