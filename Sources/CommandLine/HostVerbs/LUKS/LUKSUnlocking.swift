// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKInteraction
import YKKeys
import YKLUKS
import YKPIV
import YKTransport
import YKUse

/// A passphrase of a volume.
enum VolumePassphrase: SecretKind {
    static let name = SecretName(
        "volume-passphrase", "volume's passphrase", "YKIT_VOLUME_PASSPHRASE",
        alternative: "or in a file with --volume-passphrase-file")
    static let title = "Volume Options"
}

/// What unlocks a volume before it is changed: a passphrase, a key file, or an enrolled key.
struct LUKSUnlocking: ParsableArguments {
    static let title = "Volume Options"

    @OptionGroup var passphrase: SecretOptions<VolumePassphrase>

    @Option(
        "--volume-passphrase-file <file>",
        help: "Unlock the volume with this key file; all its bytes count, including a line ending.", completion: .input)
    var file: String?

    @Option(
        "--unlock-with <key>",
        help:
            "Unlock the volume with this key, which opens it already: a serial number, or the state file of a virtual key."
    )
    var key: String?

    @Option(
        "--unlock-pin-fd <n>",
        help: """
            Read the PIN of the --unlock-with key from this open file descriptor; or set YKIT_FIDO_PIN_SERIAL, or \
            YKIT_PIV_PIN_SERIAL for a PIV slot.
            """)
    var keyPINDescriptor: Int32?

    func check() throws {
        guard [passphrase.isGiven, file != nil, key != nil].count(where: { $0 }) <= 1 else {
            throw UsageError("give only one of passphrase, file and key to unlock the volume")
        }
        if keyPINDescriptor != nil, key == nil { throw UsageError("--unlock-pin-fd requires --unlock-with") }
    }

    /// Returns a passphrase that opens a slot of the volume.
    ///
    /// - Parameters:
    ///   - slot: A slot that is about to be removed, whose passphrase does not count; `nil` if all slots stay.
    func open(
        _ volume: LUKSVolume, besides slot: Int? = nil, _ cryptsetup: Cryptsetup, in run: Run
    ) async throws -> SharedSecret {
        let secret: SharedSecret
        if let key {
            secret = try await derived(key, volume, besides: slot, run)
        } else if let file {
            secret = SharedSecret(Secret(try Files.read(file)))
        } else {
            secret = SharedSecret(
                try passphrase.source.read(run.terminal, asking: "passphrase of \(volume.name)"))
        }
        let opens = try run.showing("unlocking \(volume.name)") {
            try volume.changing { () throws(LUKSError) in try cryptsetup.opens(volume.path, secret) }
        }
        guard opens else {
            var failure = Explanation(Concerning(.volume(volume.path), LUKSError.wrongPassphrase))
            if key != nil {
                failure.hint =
                    "if the key was enrolled without user verification, 'ykit luks key --uv discouraged "
                    + "\(volume.path.printable)' prints the passphrase: give that"
            }
            throw failure
        }
        return secret
    }

    private func derived(
        _ name: String, _ volume: LUKSVolume, besides slot: Int?, _ run: Run
    ) async throws -> SharedSecret {
        let other = try run.besides(name)
        var options = PINOptions()
        options.places.descriptor = keyPINDescriptor
        options.places.own = "give the PIN with --unlock-pin-fd N"
        let tokens = volume.metadata.tokens.filter { $0.keyslots.contains { $0 != slot } }
        let opener = LUKSOpener(volume: volume, tokens: tokens, pin: options)
        guard let found = try await opener.derive(nil, serial: other.otherKey, in: other) else {
            throw Explanation(
                "no-such-key", .notFound,
                "the key \(name.printable) opens no key slot of \(volume.name)" + (slot == nil ? "" : " that stays"),
                hint: "ykit luks list \(volume.name)")
        }
        return found.passphrase
    }
}

/// Derives the passphrase of a volume with a key.
struct LUKSOpener {
    let volume: LUKSVolume
    /// The tokens to try.
    let tokens: [LUKSToken]
    let pin: PINOptions
    /// Whether to verify the user, overriding the tokens; `nil` to follow them.
    var isVerified: Bool?

    /// A passphrase, and the token that it was derived from.
    struct Derived {
        let token: LUKSToken
        let passphrase: SharedSecret
    }

    private var purpose: String { "open \(volume.name)" }

    /// Derives the passphrase with one key.
    ///
    /// - Parameters:
    ///   - key: The key; by default the selected one.
    ///   - serial: Its serial number, if known.
    /// - Returns: `nil` if none of the tokens is for this key.
    func derive(_ key: Key?, serial: String?, in run: Run) async throws -> Derived? {
        try await CardHold.repeating {
            if let found = try await credential(key, run) { return found }
            return try await slot(key, serial, run)
        }
    }

    // MARK: FIDO2

    private func credential(_ key: Key?, _ run: Run) async throws -> Derived? {
        guard tokens.contains(where: { $0.kindName == "fido2" }),
            let service = try await present({ try await run.openFIDO(pin, for: purpose, of: key) }),
            await service.hasCTAP2
        else { return nil }
        for token in try await candidates(service) {
            guard case .fido2(var found) = token.kind else { continue }
            found.isVerified = isVerified ?? found.isVerified
            if found.needsTouch { run.announce(to: purpose) }
            guard let secret = try await secret(of: found, service) else { continue }
            await service.close()
            return Derived(token: token, passphrase: LUKSEnrollment.passphrase(secret))
        }
        await service.close()
        return nil
    }

    /// The tokens of this key; all tokens if the key always verifies the user, since it then does not reveal beforehand
    /// which credentials are its own.
    private func candidates(_ service: FIDOService) async throws -> [LUKSToken] {
        if try await service.info().option(.alwaysUv) == true { return tokens }
        return try await service.ownTokens(tokens)
    }

    private func secret(of token: SystemdToken, _ service: FIDOService) async throws -> SharedSecret? {
        do { return try await service.secret(of: token) } catch FIDOError.noCredentials { return nil }
    }

    /// Opens an application; `nil` if the key does not have it.
    private func present<Service>(_ open: () async throws -> Service) async throws -> Service? {
        do { return try await open() } catch {
            if KeyError.isAbsence(ofApplication: error) { return nil }
            throw error
        }
    }

    // MARK: PIV

    private func slot(_ key: Key?, _ serial: String?, _ run: Run) async throws -> Derived? {
        for token in tokens {
            guard case .pkcs11(let found) = token.kind, token.serial == nil || token.serial == serial else { continue }
            guard let service = try await present({ try await run.openPIV(of: key) }) else { return nil }
            for slot in found.slot.map({ [$0] }) ?? [.keyManagement] {
                guard let kind = try await kind(of: slot, service), found.fits(kind) else { continue }
                let secret = try await run.piv(service, pin).secret(
                    of: found, slot, kind, for: purpose)
                await service.close()
                return Derived(token: token, passphrase: LUKSEnrollment.passphrase(secret))
            }
            await service.close()
        }
        return nil
    }

    /// The type of the key in a slot; `nil` if there is none, or if the card does not report it.
    private func kind(of slot: PIVSlot, _ service: PIVService) async throws -> PIVAlgorithm? {
        try await unlessRefused { try await service.publicKey(slot) }.flatMap(PIVAlgorithm.init)
    }
}

extension PIVUnlocking {
    /// Returns the secret of a token; requires PIN and touch as the slot does.
    func secret(
        of token: SystemdPKCS11Token, _ slot: PIVSlot, _ kind: PIVAlgorithm, for purpose: String
    ) async throws -> SharedSecret {
        let use = try await prepare(slot, nil, kind.modulusSize != nil ? .decrypt : .derive, for: purpose)
        return try await use.touching(person) {
            guard let curve = kind.curve else {
                return try await service.decrypt(token.key, slot, padding: .pkcs1, algorithm: use.algorithm)
            }
            return try await service.derive(with: .ec(curve, point: token.key), slot, algorithm: use.algorithm)
        }
    }
}
