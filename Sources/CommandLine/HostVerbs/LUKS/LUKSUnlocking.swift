// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKLUKS

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
