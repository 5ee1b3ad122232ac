// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKKeys
import YKPIV
import YKSecureChannel
import YKTransport
import YKWire

extension World {
    /// Whether a secure channel was requested, which only a card supports.
    var wantsSecureChannel: Bool { options.scp != nil || !(Variables["YKIT_SCP"] ?? "").isEmpty }

    /// Returns the chosen protocol.
    private static func secureChannelChoice(_ options: GlobalOptions) throws(Explanation) -> SCPChoice? {
        if let choice = options.scp { return choice }
        guard let text = Variables["YKIT_SCP"], !text.isEmpty else { return nil }
        guard let choice = SCPChoice(argument: text) else {
            throw .usage("YKIT_SCP is '\(text.printable)', expected 03, 11a, 11b or 11c, and perhaps a version: 03,1")
        }
        return choice
    }

    /// Returns the keys for secure channels; a plan opens none and asks for no keys.
    func secureChannelCredential() throws -> SecureChannelCredential? {
        guard let choice = try Self.secureChannelChoice(options) else { return nil }
        if plan != nil { return .scp03(.factory) }
        switch choice.kind {
        case .scp03: return .scp03(try keySet(choice.version), version: choice.version)
        case .a: return try scp11(.a, choice.version)
        case .b: return try scp11(.b, choice.version)
        case .c: return try scp11(.c, choice.version)
        }
    }

    /// A plan, which names the secure channel that it does not open.
    static func plan(_ options: GlobalOptions) throws(Explanation) -> ExchangePlan {
        ExchangePlan(
            secureChannel: try secureChannelWords(options),
            requiredChannel: "SCP11b: \(trustWords(options)); the key requires one over NFC")
    }

    /// Describes how the key is authenticated.
    private static func trustWords(_ options: GlobalOptions) -> String {
        if let file = options.scpCardKey ?? given("YKIT_SCP_CARD_KEY") { return "the key's public key in \(file)" }
        if let file = options.scpCa ?? given("YKIT_SCP_CA") { return "the key's certificate, issued by \(file)" }
        return "the key's certificate, not verified"
    }

    /// Describes the secure channel that a plan does not open, and the source of its keys.
    private static func secureChannelWords(_ options: GlobalOptions) throws(Explanation) -> String? {
        guard let choice = try secureChannelChoice(options) else { return nil }
        let version = choice.version == 0 ? "" : ", key version \(choice.version)"
        switch choice.kind {
        case .scp03:
            let source =
                if let file = options.scpKeys { "the keys in \(file)" } else if let number = options.scpKeysFd {
                    "the keys from descriptor \(number)"
                } else if given("YKIT_SCP_KEYS") != nil { "the keys in YKIT_SCP_KEYS" } else {
                    [0, 0xFF].contains(choice.version) ? "the public factory keys" : "keys that are asked for"
                }
            return "SCP03\(version): \(source)"
        case .a, .b, .c:
            let host = options.scpOce ?? (choice.kind == .b ? nil : given("YKIT_SCP_OCE"))
            return "SCP\(choice.kind.rawValue)\(version): \(trustWords(options))"
                + (host.map { "; this host's key in \($0)" } ?? "")
        }
    }

    // MARK: - SCP03

    /// Returns the SCP03 keys from a file, a descriptor or a variable. Otherwise these are the default keys, or, if a
    /// custom key version is named, the user is asked for them.
    private func keySet(_ version: UInt8) throws -> SCP03Keys {
        for (given, name) in [
            (options.scpCa, "--scp-ca"), (options.scpCardKey, "--scp-card-key"), (options.scpOce, "--scp-oce"),
        ] where given != nil { throw Explanation.usage("\(name) is for SCP11") }
        let keys: SCP03Keys
        if let file = options.scpKeys {
            keys = try Self.keySet(in: file)
        } else {
            let source = SecretInput.Source(
                descriptor: options.scpKeysFd, variable: "YKIT_SCP_KEYS",
                hint: "give the SCP03 keys with --scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS")
            switch try SecretInput.given(source, terminal) {
            case .secret(let text): keys = try Self.keySet(text)
            case .none:
                guard version != 0, version != 0xFF else {
                    keys = .factory
                    break
                }
                keys = try Self.keySet(try Prompt(orElse: source.hint).secret("SCP03 keys, ENC:MAC or ENC:MAC:DEK"))
            }
        }
        if keys.isFactory {
            terminal.warn("these SCP03 keys are those of every new key: they are public and protect nothing")
        }
        return keys
    }

    /// Reads SCP03 keys from a file, or from standard input for `-`.
    static func keySet(in file: String) throws -> SCP03Keys {
        // Keys given in place of a file would be repeated in the error that there is no such file.
        guard file.utf8.count < 32 || !file.allSatisfy({ $0.isHexDigit || $0 == ":" }) else {
            throw Explanation.usage(
                "--scp-keys is a file, not the keys", hint: "--scp-keys FILE, --scp-keys-fd N or YKIT_SCP_KEYS")
        }
        var bytes = try Files.read(file)
        defer { Secret.wipe(&bytes) }
        return try keySet(Secret(bytes))
    }

    /// Parses SCP03 keys.
    static func keySet(_ text: borrowing Secret) throws -> SCP03Keys {
        do { return try SCP03Keys(text: text) } catch { throw CardError.secureChannel(error) }
    }

    // MARK: - SCP11

    private func scp11(_ variant: SCP11Variant, _ version: UInt8) throws -> SecureChannelCredential {
        if options.scpKeys != nil || options.scpKeysFd != nil {
            throw Explanation.usage("--scp-keys is for SCP03", hint: "--scp 03")
        }
        let host = try hostKey(variant)
        guard let trust = try givenTrust() else {
            terminal.warn(
                "the key's certificate is not verified, so anybody could be at the other end; "
                    + "give the CA with --scp-ca FILE")
            return .scp11(variant, version: version, host: host, trust: .unverified)
        }
        return .scp11(variant, version: version, host: host, trust: trust)
    }

    /// Returns how to authenticate a key that requires a secure channel.
    func requiredChannelTrust() throws -> @Sendable () -> SCP11Trust? {
        let (trust, terminal) = (try givenTrust(), terminal)
        return {
            if trust == nil {
                terminal.warn(
                    "the key requires a secure channel over NFC; SCP11b is used, and the key's certificate is not "
                        + "verified: give the CA with --scp-ca FILE")
            }
            return trust ?? .unverified
        }
    }

    /// Returns the public key or CA that verifies the key's certificate, if given.
    private func givenTrust() throws -> SCP11Trust? {
        if let file = options.scpCardKey ?? Self.given("YKIT_SCP_CARD_KEY") {
            guard case .ec(.p256, let point) = try KeyFile.publicKey(file) else {
                throw Explanation.usage("\(file.printable) holds no public key on P-256")
            }
            return .key(point)
        }
        guard let file = options.scpCa ?? Self.given("YKIT_SCP_CA") else { return nil }
        return .authority(try KeyFile.certificates(file)[0].der)
    }

    private func hostKey(_ variant: SCP11Variant) throws -> SCP11HostKey? {
        let file = options.scpOce ?? (variant.authenticatesHost ? Self.given("YKIT_SCP_OCE") : nil)
        guard variant.authenticatesHost else {
            if file != nil { throw Explanation.usage("SCP11b does not use a key of this host: omit --scp-oce") }
            return nil
        }
        guard let file else {
            throw Explanation.usage(
                "SCP\(variant.rawValue) needs a private key and certificates of this host", hint: "--scp-oce FILE")
        }
        let content = try hostFile(file)
        guard let key = content.privateKey, case .ec(.p256, let point) = key.publicKey else {
            throw Explanation.usage("\(file.printable) holds no private key on P-256")
        }
        let chain = Self.chain(content.certificates, to: point)
        do {
            return try SCP11HostKey(
                privateKey: try key.scalar(), certificates: chain.map(\.der),
                authority: options.scpOceCa?.reference ?? SCPKeyReference(id: 0x10, version: 0))
        } catch let fault as SecureChannelFault { throw CardError.secureChannel(fault) }
    }

    /// Reads the host's file; its password comes from a descriptor, a variable or a prompt.
    private func hostFile(_ file: String) throws -> KeyFile {
        var bytes = try Files.read(file)
        defer { Secret.wipe(&bytes) }
        do { return try KeyFile(bytes) } catch {
            guard case PIVError.invalidFile(.passwordNeeded) = error else { throw error }
        }
        let source = SecretInput.Source(
            descriptor: options.scpPasswordFd, variable: "YKIT_SCP_PASSWORD",
            hint: "give the file's password with --scp-password-fd N or YKIT_SCP_PASSWORD")
        let password =
            switch try SecretInput.given(source, terminal) {
            case .secret(let secret): SharedSecret(secret)
            case .none: SharedSecret(try Prompt(orElse: source.hint).secret("password of \(file.printable)"))
            }
        return try KeyFile(bytes, password: password)
    }

    /// Returns the certificates from the CA down to that of a key, without self-signed ones.
    static func chain(_ all: [PIVCertificate], to point: [UInt8]) -> [PIVCertificate] {
        guard var next = all.first(where: { $0.publicKey == .ec(.p256, point: point) }) else { return [] }
        var chain = [next]
        while chain.count < all.count, next.issuer != next.subject,
            let issuer = all.first(where: { $0.subject == next.issuer && $0.issuer != $0.subject }),
            !chain.contains(issuer)
        {
            chain.insert(issuer, at: 0)
            next = issuer
        }
        return chain
    }

    private static func given(_ variable: String) -> String? { Variables[variable].flatMap { $0.isEmpty ? nil : $0 } }
}
