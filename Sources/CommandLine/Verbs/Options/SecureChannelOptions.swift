// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Synchronization
package import TerminalIO
package import YKCrypto
package import YKKeys
import YKPIV
package import YKUse

/// The secure channel to the key, and the keys for it.
package struct SecureChannelOptions: ParsableArguments {
    @Option(
        "--scp <protocol>", variable: "YKIT_SCP",
        help: "Use a secure channel: 03, 11a, 11b or 11c, optionally with the version of its key, as in 03,1.",
        completion: .list(ChannelChoice.Kind.allCases.map(\.rawValue)), transform: ChannelChoice.parse)
    package var scp: ChannelChoice?

    @Option(
        "--scp-keys <file>", variable: .ofOtherForm("YKIT_SCP_KEYS"),
        help: "SCP03 keys, ENC:MAC or ENC:MAC:DEK in hexadecimal, in this file; or set YKIT_SCP_KEYS to the keys.",
        completion: .input)
    package var scpKeys: String?

    @Option("--scp-keys-fd <n>", help: "Read the SCP03 keys from this open file descriptor.") var scpKeysFd: Int32?

    @Option(
        "--scp-ca <file>", variable: "YKIT_SCP_CA",
        help: "CA that must have issued the key's certificate (SCP11).")
    var scpCa: String?

    @Option(
        "--scp-card-key <file>", variable: "YKIT_SCP_CARD_KEY", help: "Public key that the key must have (SCP11).")
    var scpCardKey: String?

    @Option(
        "--scp-oce <file>", variable: "YKIT_SCP_OCE",
        help: "Private key and certificates of this host (SCP11a, SCP11c).")
    var scpOce: String?

    @Option(
        "--scp-oce-ca <key>",
        help: "Which CA of the key verifies the host's certificates, as in ca,3; looked up by default.",
        transform: SCPKeyArgument.parse)
    var scpOceCa: SCPKeyArgument?

    @Option(
        "--scp-password-fd <n>", variable: .ofOtherForm("YKIT_SCP_PASSWORD"),
        help: "Read the password of the --scp-oce file from this open file descriptor; or set YKIT_SCP_PASSWORD.")
    var scpPasswordFd: Int32?

    package init() {}

    /// Refuses options for a secure channel that is not used; variables for it are ignored.
    ///
    /// - Parameter opensChannel: Whether the verb opens the channel, rather than decrypting a recorded one.
    func checkCombinations(opensChannel: Bool) throws(Explanation) {
        let kind = scp?.kind
        let isSCP11 = kind.map { $0 != .scp03 } ?? false
        let given: [(isGiven: Bool, isUsed: Bool, name: String, needed: String)] = [
            ($scpKeys, kind == .scp03 || !opensChannel, "--scp-keys", "--scp 03"),
            ($scpKeysFd, kind == .scp03 || !opensChannel, "--scp-keys-fd", "--scp 03"),
            // Without --scp these two verify a key that requires a channel over NFC.
            ($scpCa, opensChannel && kind != .scp03, "--scp-ca", "--scp 11a, 11b or 11c"),
            ($scpCardKey, opensChannel && kind != .scp03, "--scp-card-key", "--scp 11a, 11b or 11c"),
            ($scpOce, opensChannel && isSCP11 && kind != .b, "--scp-oce", "--scp 11a or 11c"),
            ($scpOceCa, opensChannel && isSCP11 && kind != .b, "--scp-oce-ca", "--scp 11a or 11c"),
            ($scpPasswordFd, opensChannel && isSCP11 && kind != .b, "--scp-password-fd", "--scp 11a or 11c"),
        ]
        if let useless = given.first(where: { $0.isGiven && !$0.isUsed }) {
            throw .usage(
                opensChannel
                    ? "\(useless.name) needs \(useless.needed)" : "\(useless.name) has no effect on this verb")
        }
        if scpKeys != nil, scpKeysFd != nil { throw .usage("--scp-keys and --scp-keys-fd cannot be combined") }
        if $scpCa, $scpCardKey { throw .usage("--scp-ca and --scp-card-key cannot be combined") }
    }

    /// Gives the access to keys the credential for the requested channel; without one, how to authenticate a key that
    /// requires a channel.
    func secure(_ keys: inout KeyRing, _ terminal: Terminal) throws {
        guard let choice = scp else { return try secureIfRequired(&keys, terminal) }
        if choice.kind == .scp03 {
            let (credential, isFactory) = try choice.scp03(try keyText(choice.version, terminal))
            keys.secureChannel = credential
            guard isFactory else { return }
            terminal.warn(
                "factory-default", "these are the factory SCP03 keys: they are public and give no protection")
        } else {
            let host = try hostKey(choice, terminal)
            let trust = try givenTrust()
            if trust == nil {
                terminal.warn(
                    "not-verified",
                    "the key's certificate is not verified, so the key may be impersonated; "
                        + "give the CA with --scp-ca FILE")
            }
            keys.secureChannel = choice.scp11(host: host, trust: trust)
        }
    }

    // MARK: - plans

    /// A plan, which names the secure channel that it does not open.
    package func plan(_ terminal: Terminal) -> ExchangePlan {
        ExchangePlan(
            secureChannel: words(terminal), requiredChannel: "SCP11b: \(trustWords); the key requires one over NFC")
    }

    /// Describes how the key is authenticated.
    private var trustWords: String {
        if let file = scpCardKey { return "the key's public key in \(file)" }
        if let file = scpCa { return "the key's certificate, issued by \(file)" }
        return "the key's certificate, not verified"
    }

    /// Describes the secure channel that a plan does not open, and the source of its keys.
    private func words(_ terminal: Terminal) -> String? {
        guard let choice = scp else { return nil }
        let version = choice.version == 0 ? "" : ", key version \(choice.version)"
        switch choice.kind {
        case .scp03:
            let source =
                if let file = scpKeys { "the keys in \(file)" } else if let number = scpKeysFd {
                    "the keys from descriptor \(number)"
                } else if keySource.isGiven(terminal) { "the keys in YKIT_SCP_KEYS" } else {
                    [0, 0xFF].contains(choice.version) ? "the public factory keys" : "keys for which ykit prompts"
                }
            return "SCP03\(version): \(source)"
        case .a, .b, .c:
            let host = $scpOce || choice.kind != .b ? scpOce : nil
            return "SCP\(choice.kind.rawValue)\(version): \(trustWords)"
                + (host.map { "; this host's key in \($0)" } ?? "")
        }
    }

    // MARK: - SCP03

    /// Where SCP03 keys may come from besides a file.
    package var keySource: SecretInput.Source {
        SecretInput.Source(
            descriptor: scpKeysFd, variable: "YKIT_SCP_KEYS",
            hint: "give the SCP03 keys with --scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS")
    }

    /// Returns the SCP03 keys as text, from a file, a descriptor or a variable. Otherwise these are the factory's, for
    /// which it is `nil`, or, if a custom key version is named, the user is asked for them.
    package func keyText(_ version: UInt8, _ terminal: Terminal) throws -> SharedSecret? {
        if let file = scpKeys {
            var bytes = try Files.read(file)
            defer { Secret.wipe(&bytes) }
            return SharedSecret(Secret(bytes))
        }
        let isFactory = !keySource.isGiven(terminal) && (version == 0 || version == 0xFF)
        return isFactory
            ? nil : SharedSecret(try keySource.read(terminal, asking: "SCP03 keys, ENC:MAC or ENC:MAC:DEK"))
    }

    // MARK: - SCP11

    /// Says how to authenticate a key that requires a secure channel.
    private func secureIfRequired(_ keys: inout KeyRing, _ terminal: Terminal) throws {
        let trust = try givenTrust()
        let hasWarned = SharedFlag()
        keys.requiredChannelTrust = {
            // Each application of the key is opened on a channel of its own.
            if trust == nil, hasWarned.raise() {
                terminal.warn(
                    "not-verified",
                    "the key requires a secure channel over NFC; SCP11b is used, and the key's certificate is not "
                        + "verified: give the CA with --scp-ca FILE")
            }
            return ChannelTrust.required(trust)
        }
    }

    /// Returns the public key or CA that verifies the key's certificate, if given.
    private func givenTrust() throws -> ChannelTrust? {
        if let file = scpCardKey {
            guard let trust = try ChannelTrust(key: try KeyFile(at: file)) else {
                throw Explanation.usage("\(file.printable) holds no public key on P-256")
            }
            return trust
        }
        return try scpCa.map { file in
            guard let trust = ChannelTrust(authority: try KeyFile(at: file)) else { throw KeyFile.noCertificate(file) }
            return trust
        }
    }

    private func hostKey(_ choice: ChannelChoice, _ terminal: Terminal) throws -> ChannelHost? {
        guard choice.authenticatesHost else { return nil }
        guard let file = scpOce else {
            throw Explanation.usage(
                "SCP\(choice.kind.rawValue) needs a private key and certificates of this host", hint: "--scp-oce FILE")
        }
        guard let host = try ChannelHost(try hostFile(file, terminal), authority: scpOceCa?.reference) else {
            throw Explanation.usage("\(file.printable) holds no private key on P-256")
        }
        return host
    }

    /// Reads the host's file; its password comes from a descriptor, a variable or a prompt.
    private func hostFile(_ file: String, _ terminal: Terminal) throws -> KeyFile {
        let source = SecretInput.Source(
            descriptor: scpPasswordFd, variable: "YKIT_SCP_PASSWORD",
            hint: "give the file's password with --scp-password-fd N or YKIT_SCP_PASSWORD")
        return try KeyFile(at: file) { prompt in try source.read(terminal, asking: prompt) }
    }
}

/// Whether something was done, for several threads.
private final class SharedFlag: Sendable {
    private let isRaised = Mutex(false)

    /// Raises the flag; returns false if it was raised before.
    func raise() -> Bool {
        isRaised.withLock { flag in
            defer { flag = true }
            return !flag
        }
    }
}
