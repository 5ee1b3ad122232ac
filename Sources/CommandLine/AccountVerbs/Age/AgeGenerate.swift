// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKAge
import YKCrypto
import YKFIDO
import YKPIV
import YKTransport
import YKUse
import YKWire
import YKX509

/// Generates a key for age.
struct AgeGenerate: Verb {
    static let about = About(
        "Create a key for age, and print its identity and recipients.",
        discussion: """
            By default, a P-256 key is created in a PIV slot, with a certificate that age-plugin-yubikey also finds. \
            With --algorithm x25519 (firmware 5.7 and later), any version of age can encrypt to the key without a \
            plugin. With --fido2, a FIDO2 credential is created; keep its identity, which the security key does not \
            store.
            """,
        examples: [
            Example("ykit age generate --output identity.txt"), Example("ykit age generate --fido2 --output fido2.txt"),
        ])
    static let answer = Shape(
        Item<[AgeKeyReport]>("keys"), Item<String>("output", "the file, - for standard output"))

    @Option(
        ["--slot <slot>", "-s"],
        help:
            "One of \(PIVSlot.retiredWords), or 1 to \(PIVSlot.retired.count) for the same slots (default: the first free one)."
    )
    var slot: AgeSlotArgument?

    @Option(
        ["--algorithm", "-a"], among: [.p256, .x25519], help: "Algorithm of the key in a slot: ecc-p256 or x25519.")
    var algorithm: PIVAlgorithm?

    @Flag("--fido2", help: "Create a FIDO2 credential instead of a key in a slot.") var fido2 = false

    @Option(
        "--uv", among: VerificationChoice.ofSecrets,
        help: "With --fido2, user verification by PIN or fingerprint: required or discouraged.")
    var uv: VerificationChoice?

    @Option("--name", help: "A name for the key.") var name: String?

    @Option(
        "--pin-policy", among: PINPolicy.plain,
        help: "When the key in a slot requires the PIN: never, once or always (default: once).")
    var pinPolicy: PINPolicy?

    @Option(
        "--touch-policy", among: TouchPolicy.plain,
        help: "When the key in a slot requires a touch: never, always or cached (default: always).")
    var touchPolicy: TouchPolicy?

    @Option(["--output <file>", "-o"], help: "Where to write the identity.") var output = "-"

    @Flag(["--force", "-f"], help: "Replace a key in the slot without asking, and the output file if it exists.")
    var force = false

    @OptionGroup var managementKey: ManagementKeyOptions
    @OptionGroup var pin: PINOptions

    func check() throws {
        if fido2 {
            guard slot == nil, algorithm == nil, pinPolicy == nil, touchPolicy == nil, name == nil else {
                throw UsageError("--fido2 creates no key in a slot: omit the options for slots")
            }
        } else {
            guard uv == nil else { throw UsageError("--uv requires --fido2") }
            // X.520's upper bound for a common name, checked before the key is generated for the certificate.
            guard (name?.unicodeScalars.count ?? 0) <= 64 else {
                throw UsageError("a name must have at most 64 characters")
            }
            guard slot?.slot != .attestation else { throw UsageError("slot f9 holds the attestation key") }
        }
    }

    func run(in run: Run) async throws -> Outcome<([AgeKeyReport], String)> {
        let file = try FileOutput(output, isText: true, isSecret: true, force: force, run)
        let (text, key) = fido2 ? try await credential(in: run) : try await slotKey(in: run)
        var outcome = Outcome(
            ([key], output), "identity written to \(output.printable)")
        file.keep(
            Array(text.utf8), &outcome.answer,
            orElse: fido2 ? nil : "the key was created; to print its identity: ykit age identity", run.terminal)
        return outcome
    }

    // MARK: a slot

    private var policies: KeyPolicies { KeyPolicies(pin: pinPolicy ?? .once, touch: touchPolicy ?? .always) }

    private func slotKey(in run: Run) async throws -> (text: String, key: AgeKeyReport) {
        let algorithm = algorithm ?? .p256
        let service = try await run.openPIV()
        let serial = try await service.serial() ?? 0
        let slot = try await freeSlot(service, run)
        let name = name ?? "age identity \(slot)"
        let template = CertificateTemplate(
            subject: try DistinguishedName(
                "CN=\(DistinguishedName.escaped(name)),O=\(X509Certificate.ageOrganization)"),
            policies: policies)
        try await service.checkFit(slot, algorithm, policies)
        let unlocking = run.piv(service, pin, managementKey)
        try await unlocking.manage(for: "generate a key")
        // The new key signs the certificate, so a wrong PIN is refused before the key is generated.
        if algorithm != .x25519, policies.pin != .never {
            try await unlocking.verify(for: "sign the key's certificate")
        }
        let key = try await service.generateKey(slot, algorithm, policies: policies)
        if algorithm != .x25519 {
            try await run.afterChange(
                "the key in slot \(slot) is generated, without the certificate by which age finds it",
                hint: "repeat the command with --slot \(slot) --force"
            ) {
                let use = try await unlocking.prepare(slot, algorithm, .sign, for: "sign the key's certificate")
                let certificate = try await use.touching(run.person) {
                    try await service.selfSignedCertificate(
                        use.slot, template, validity: .seconds(36500 * 86_400), key: key)
                }
                try await service.putCertificate(certificate.der, slot)
            }
        }
        guard let key = AgePublicKey(key) else {
            throw Explanation.malformed("the key is not of type \(algorithm)")
        }
        let made = AgeSlot(slot: slot, key: key, name: algorithm == .x25519 ? nil : name, policies: policies)
        let identity = AgeIdentity.slot(slot.rawValue, serial: serial, key: key)
        return (
            AgeIdentityFile.text(made.comments(serial), made.recipients, identity),
            made.report(serial, recipient: AgeRecipientForm.tag.text(key), identity: identity.text)
        )
    }

    /// Returns the given slot, or the first one without key and certificate.
    private func freeSlot(_ service: PIVService, _ run: Run) async throws -> PIVSlot {
        if let slot = slot?.slot {
            let overwriting = run.overwriting(service, force: force)
            try await overwriting?.confirmKey(in: slot)
            if algorithm != .x25519 { try await overwriting?.confirmCertificate(in: slot) }
            return slot
        }
        for slot in PIVSlot.retired where try await service.isFree(slot) == true { return slot }
        throw Explanation(
            "full", .notFound, "none of the slots \(PIVSlot.retiredWords) is free, as far as the key reports",
            hint: "choose one with --slot, or delete a key: ykit piv keys delete SLOT")
    }

    // MARK: a credential

    private func credential(in run: Run) async throws -> (text: String, key: AgeKeyReport) {
        let isVerified = uv != .discouraged
        let what = "create a credential for age"
        let service = try await run.openTouchedFIDO(pin, for: what)
        if !isVerified, try await service.info().option(.alwaysUv) == true {
            throw Explanation(
                "not-supported", .notSupported, "this key always verifies the user, so the identity must require it",
                hint: "--uv required")
        }
        run.announce(to: what)
        let user = try run.environment.random.draw(32, secret: false)
        var request = RegistrationRequest(
            clientDataHash: try run.environment.random.draw(32, secret: false),
            relyingParty: RelyingParty(id: AgeCredential.rpID),
            user: FIDOUser(id: user, name: "age", displayName: "age"))
        request.algorithms = [.es256, .edDSA]
        request.userVerification = isVerified ? .required : .discouraged
        request.extensions.createsHMACSecret = true
        let made = try await service.register(request)
        let credential = try AgeCredential(
            salt: run.environment.random.draw(32, secret: false),
            id: made.response.authenticatorData.credential?.id ?? [], isVerified: isVerified)
        run.announce(to: "derive the credential's secret")
        let secret = try await service.secret(of: credential)
        guard case .x25519(let publicKey) = try PrivateKey(x25519: secret.value).publicKey else {
            throw Explanation.malformed("the secret is not an X25519 key")
        }
        let identity = AgeIdentity.fido2(credential, publicKey: publicKey)
        let recipients = [
            AgeRecipient.x25519(publicKey).text(), AgeRecipient.fido2(credential, publicKey: publicKey).text(),
            AgeRecipient.fido2(credential, publicKey: publicKey).text(isOwn: true),
        ]
        let comments = ["#         FIDO2: \(isVerified ? "with PIN or fingerprint" : "with a touch alone")"]
        let key = AgeKeyReport(recipient: recipients[0], recipients: recipients, identity: identity.text)
        return (AgeIdentityFile.text(comments, recipients, identity), key)
    }
}
