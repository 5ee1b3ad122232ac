// SPDX-License-Identifier: Apache-2.0

package import Arguments
import Synchronization
package import TerminalIO
package import YKCrypto
package import YKKeys
import YKPIV
package import YKSecureChannel
import YKTransport
import YKWire
package import YKX509

/// The secure channel to the key, and the keys for it.
package struct SecureChannelOptions: ParsableArguments {
    @Option(
        "--scp <protocol>", variable: "YKIT_SCP",
        help: "Use a secure channel: 03, 11a, 11b or 11c, optionally with the version of its key, as in 03,1.",
        completion: .list(SCPChoice.Kind.allCases.map(\.rawValue)), transform: SCPChoice.parse)
    package var scp: SCPChoice?

    @Option(
        "--scp-keys <file>", variable: .ofOtherForm("YKIT_SCP_KEYS"),
        help: "SCP03 keys, ENC:MAC or ENC:MAC:DEK in hexadecimal, in this file; or set YKIT_SCP_KEYS to the keys.",
        completion: .input)
    var scpKeys: String?

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

    /// Returns the keys for the requested channel; `nil` without one.
    package func credential(_ terminal: Terminal) throws -> SecureChannelCredential? {
        guard let choice = scp else { return nil }
        return switch choice.kind {
        case .scp03: .scp03(try keySet(choice.version, terminal), version: choice.version)
        case .a: try scp11(.a, choice.version, terminal)
        case .b: try scp11(.b, choice.version, terminal)
        case .c: try scp11(.c, choice.version, terminal)
        }
    }

    /// Returns the SCP03 keys that decrypt a recorded channel, given in any way; `nil` without any.
    package func recordedKeys(_ terminal: Terminal) throws -> SCP03Keys? {
        let isSCP03 = scp?.kind == .scp03
        if $scp, !isSCP03 {
            throw Explanation.usage(
                "a recorded channel of SCP11 cannot be decrypted: its keys existed only during the session")
        }
        guard isSCP03 || scpKeys != nil || keySource.isGiven else { return nil }
        return try keySet(isSCP03 ? scp?.version ?? 0 : 0, terminal, warns: false)
    }

    // MARK: - plans

    /// A plan, which names the secure channel that it does not open.
    package func plan() -> ExchangePlan {
        ExchangePlan(
            secureChannel: words, requiredChannel: "SCP11b: \(trustWords); the key requires one over NFC")
    }

    /// Describes how the key is authenticated.
    private var trustWords: String {
        if let file = scpCardKey { return "the key's public key in \(file)" }
        if let file = scpCa { return "the key's certificate, issued by \(file)" }
        return "the key's certificate, not verified"
    }

    /// Describes the secure channel that a plan does not open, and the source of its keys.
    private var words: String? {
        guard let choice = scp else { return nil }
        let version = choice.version == 0 ? "" : ", key version \(choice.version)"
        switch choice.kind {
        case .scp03:
            let source =
                if let file = scpKeys { "the keys in \(file)" } else if let number = scpKeysFd {
                    "the keys from descriptor \(number)"
                } else if keySource.isGiven { "the keys in YKIT_SCP_KEYS" } else {
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
    private var keySource: SecretInput.Source {
        SecretInput.Source(
            descriptor: scpKeysFd, variable: "YKIT_SCP_KEYS",
            hint: "give the SCP03 keys with --scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS")
    }

    /// Returns the SCP03 keys from a file, a descriptor or a variable. Otherwise these are the default keys, or, if a
    /// custom key version is named, the user is asked for them.
    private func keySet(_ version: UInt8, _ terminal: Terminal, warns: Bool = true) throws -> SCP03Keys {
        for (given, name) in [
            ($scpCa, "--scp-ca"), ($scpCardKey, "--scp-card-key"), ($scpOce, "--scp-oce"),
        ] where given { throw Explanation.usage("\(name) is for SCP11") }
        let keys: SCP03Keys
        if let file = scpKeys {
            keys = try SCP03Keys(file: file)
        } else {
            let isFactory = !keySource.isGiven && (version == 0 || version == 0xFF)
            keys =
                isFactory
                ? .factory
                : try SCP03Keys(given: try keySource.read(terminal, asking: "SCP03 keys, ENC:MAC or ENC:MAC:DEK"))
        }
        if keys.isFactory, warns {
            terminal.warn("factory-default", "these are the factory SCP03 keys: they are public and give no protection")
        }
        return keys
    }

    // MARK: - SCP11

    private func scp11(
        _ variant: SCP11Variant, _ version: UInt8, _ terminal: Terminal
    ) throws -> SecureChannelCredential {
        if scpKeys != nil || scpKeysFd != nil {
            throw Explanation.usage("--scp-keys is for SCP03", hint: "--scp 03")
        }
        let host = try hostKey(variant, terminal)
        guard let trust = try givenTrust() else {
            terminal.warn(
                "not-verified",
                "the key's certificate is not verified, so the key may be impersonated; "
                    + "give the CA with --scp-ca FILE")
            return .scp11(variant, version: version, host: host, trust: .unverified)
        }
        return .scp11(variant, version: version, host: host, trust: trust)
    }

    /// Returns how to authenticate a key that requires a secure channel.
    func requiredTrust(_ terminal: Terminal) throws -> @Sendable () -> SCP11Trust? {
        let trust = try givenTrust()
        let hasWarned = SharedFlag()
        return {
            // Each application of the key is opened on a channel of its own.
            if trust == nil, hasWarned.raise() {
                terminal.warn(
                    "not-verified",
                    "the key requires a secure channel over NFC; SCP11b is used, and the key's certificate is not "
                        + "verified: give the CA with --scp-ca FILE")
            }
            return trust ?? .unverified
        }
    }

    /// Returns the public key or CA that verifies the key's certificate, if given.
    private func givenTrust() throws -> SCP11Trust? {
        if let file = scpCardKey {
            guard case .ec(.p256, let point) = try KeyFile.publicKey(file) else {
                throw Explanation.usage("\(file.printable) holds no public key on P-256")
            }
            return .key(point)
        }
        guard let file = scpCa else { return nil }
        return .authority(try KeyFile.certificates(file)[0].der)
    }

    private func hostKey(_ variant: SCP11Variant, _ terminal: Terminal) throws -> SCP11HostKey? {
        guard variant.authenticatesHost else { return nil }
        guard let file = scpOce else {
            throw Explanation.usage(
                "SCP\(variant.rawValue) needs a private key and certificates of this host", hint: "--scp-oce FILE")
        }
        let content = try hostFile(file, terminal)
        guard let key = content.privateKey, case .ec(.p256, let point) = key.publicKey else {
            throw Explanation.usage("\(file.printable) holds no private key on P-256")
        }
        let chain = content.certificates.chain(to: point)
        do {
            return try SCP11HostKey(
                privateKey: try key.scalar(), certificates: chain.map(\.der),
                authority: scpOceCa?.reference ?? SCPKeyReference(id: 0x10, version: 0))
        } catch let fault as SecureChannelFault { throw CardError.secureChannel(fault) }
    }

    /// Reads the host's file; its password comes from a descriptor, a variable or a prompt.
    private func hostFile(_ file: String, _ terminal: Terminal) throws -> KeyFile {
        let source = SecretInput.Source(
            descriptor: scpPasswordFd, variable: "YKIT_SCP_PASSWORD",
            hint: "give the file's password with --scp-password-fd N or YKIT_SCP_PASSWORD")
        return try KeyFile(at: file) { prompt in try source.read(terminal, asking: prompt) }
    }
}

extension SCP03Keys {
    /// Reads SCP03 keys from a file, or from standard input for `-`.
    package init(file: String) throws {
        var bytes = try Files.read(file)
        defer { Secret.wipe(&bytes) }
        try self.init(given: Secret(bytes))
    }

    /// Parses SCP03 keys.
    package init(given text: borrowing Secret) throws {
        do { try self.init(text: text) } catch { throw CardError.secureChannel(error) }
    }
}

extension [X509Certificate] {
    /// Returns the certificates from the CA down to that of a key, without self-signed ones.
    package func chain(to point: [UInt8]) -> [X509Certificate] {
        guard var next = first(where: { $0.publicKey == .ec(.p256, point: point) }) else { return [] }
        var chain = [next]
        while chain.count < count, next.issuer != next.subject,
            let issuer = first(where: { $0.subject.description == next.issuer.description && $0.issuer != $0.subject }),
            !chain.contains(issuer)
        {
            chain.insert(issuer, at: 0)
            next = issuer
        }
        return chain
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
