// SPDX-License-Identifier: Apache-2.0

import Applications
import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKLUKS
import YKUse

/// Prints the passphrase that a key derives.
struct LUKSKey: Verb {
    static let uses: GlobalUse = [.device, .virtual]
    static let about = About(
        "Print the passphrase of a volume, for cryptsetup and keyscripts.",
        discussion: """
            Uses the token of a key that is plugged in, enrolled by ykit or systemd-cryptenroll. The output has no \
            line ending, and is never printed to a terminal. Without a PIN, and without a terminal to ask for it, the \
            exit code is 17, before any touch; without a key it is 3 or 12. A keyscript can then ask by other means.
            """,
        examples: [
            Example("ykit luks key /dev/sda2 | cryptsetup open --key-file - /dev/sda2 root"),
            Example("ykit luks key /dev/sda2 --wait 30 > /run/key", "Wait for a key to be plugged in."),
        ])
    typealias Reported = (uuid: String, token: Int, slots: [Int], passphrase: String?)
    static let answer = Shape<Reported>(
        Member("uuid") { $0.uuid }, Member("token", "its number") { $0.token }, Member("keyslots") { $0.slots },
        Member("passphrase", "in base64, as systemd uses it") { $0.passphrase })

    @OptionGroup var place: LUKSPlace

    @Option("--token <number>", help: "Use this token only.") var token: Int?

    @Option(
        "--uv", among: VerificationChoice.ofSecrets,
        help: "User verification, by PIN or fingerprint: required or discouraged. Each gives a different secret.")
    var uv: VerificationChoice?

    @Option("--wait <seconds>", help: "Wait this long for a key that opens the volume (default: 0).") var wait: Int = 0

    @OptionGroup var pin: PINOptions

    func check() throws {
        guard (0...3600).contains(wait) else { throw UsageError("--wait must be 0 to 3600") }
    }

    func run(in run: Run) async throws -> Outcome<Reported> {
        if run.terminal.isOutputTerminal, !run.options.json {
            throw Explanation.usage(
                "refusing to print a passphrase to a terminal", hint: "pipe it to cryptsetup open --key-file -")
        }
        let volume = try place.open()
        let tokens = volume.metadata.tokens.filter { found in
            found.isOfKey && !found.keyslots.isEmpty && (token == nil || found.number == token)
        }
        guard !tokens.isEmpty else {
            throw Explanation(
                "no-token", .notFound,
                "\(volume.name) has no token of a security key"
                    + (token.map { " with the number \($0)" } ?? ""),
                hint: "ykit luks add \(volume.name)")
        }
        let opener = LUKSOpener(volume: volume, tokens: tokens, pin: pin, isVerified: uv.map { $0 == .required })
        let found = try await derive(opener, run)
        let bytes = found.passphrase.value.copyBytes()
        let text = run.options.json ? String(decoding: bytes, as: UTF8.self) : nil
        var outcome = Outcome(
            (
                uuid: volume.header.uuid, token: found.token.number, slots: found.token.keyslots, passphrase: text
            ))
        outcome.answer.raw = bytes
        return outcome
    }

    /// Tries the keys that are plugged in, until one has a token or the time is up.
    private func derive(_ opener: LUKSOpener, _ run: Run) async throws -> LUKSOpener.Derived {
        let start = ContinuousClock.now
        while true {
            let (keys, failure) = try await attached(run)
            for key in keys {
                if let found = try await opener.derive(key, serial: key.serial, in: run) { return found }
            }
            // The serial number of a key that another program is using, such as cryptsetup for its own tokens, is
            // unknown.
            let isUnknown = keys.contains { $0.serial == nil } && opener.tokens.contains { $0.serial != nil }
            let patience = max(.seconds(wait), isUnknown ? CardHold.patience : .zero)
            guard ContinuousClock.now < start + patience else {
                if keys.isEmpty { throw Self.withoutKeys(failure, run) }
                throw Explanation(
                    "no-such-key", .notFound, "no key that is plugged in opens \(opener.volume.name)",
                    hint: "ykit luks list \(opener.volume.name)")
            }
            try? await Task.sleep(for: .milliseconds(300))
            try run.checkInterrupted()
        }
    }

    /// Why there are no keys: what prevented the search, or nothing did. At boot there is no other advice than to insert one.
    private static func withoutKeys(_ failure: (any Error)?, _ run: Run) -> Explanation {
        let serial = run.keys.selection.serial
        let absence = serial.map { KeyError.notFound(serial: $0, .any, []) } ?? .none(.any, .complete)
        var explanation = Explanation(failure ?? absence)
        if KeyError.isAbsence(ofKey: failure ?? absence) {
            explanation.hint = "insert the key that opens the volume, or wait for it with --wait"
        }
        return explanation
    }

    /// The keys that are plugged in. While keys are waited for, a reader service that is not yet there is no error, but the reason
    /// why none was found.
    private func attached(_ run: Run) async throws -> (keys: [Key], failure: (any Error)?) {
        do { return (try await CardHold.repeating { try await run.keys.all() }, nil) } catch {
            if wait == 0 { throw error }
            return ([], error)
        }
    }
}
