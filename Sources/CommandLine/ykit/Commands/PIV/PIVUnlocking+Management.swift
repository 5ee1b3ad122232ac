// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKKeys
import YKPIV
import YKWire

extension PIVUnlocking {
    /// Authenticates with the management key: the given one, else the default one, with a warning, if the card still
    /// has it, else the PIN-protected one, else one that is asked for.
    mutating func manage(_ options: ManagementKeyOptions, for reason: String) async throws {
        world.terminal.purpose(reason)
        let metadata = try await service.managementKeyMetadata()
        switch try SecretInput.given(options.source, world.terminal) {
        case .secret(let text): return try await authenticate(text, metadata)
        case .none: break
        }
        if metadata?.isDefault != false, try await useDefault(metadata) { return }
        if try await service.administration().isKeyProtected { return try await useProtected(for: reason) }
        guard world.plan == nil else { throw stopped }
        let prompt = try Prompt(orElse: options.source.hint)
        let kind = try await service.findManagementKeyType()
        prompt.tell("to \(reason), the key asks for its management key: \(kind), \((kind.keySize ?? 24) * 2) digits")
        try await authenticate(try prompt.secret("management key"), metadata)
    }

    /// Tries the default key, which uses no retries; returns whether it was correct.
    private mutating func useDefault(_ metadata: ManagementKeyMetadata?) async throws -> Bool {
        do {
            try await authenticate(ManagementKey.defaultKey(), metadata)
        } catch {
            switch error {
            case PIVError.wrongManagementKey where metadata?.isDefault != true: return false
            case PIVError.managementKeyLength where metadata?.isDefault != true: return false
            default: throw error
            }
        }
        guard !world.options.strict else {
            throw Explanation("management-key-default", .policy, Self.isDefault)
        }
        world.terminal.warn(Self.isDefault)
        return true
    }

    static let isDefault =
        "the management key is still the default; set another with "
        + "'ykit piv access change-management-key --generate --protect'"

    /// Uses the PIN-protected key; a plan sends no PIN, so it stops here.
    private mutating func useProtected(for reason: String) async throws {
        guard world.plan == nil else { throw stopped }
        let pin = try await world.pivPIN(pin, of: service, for: "use its management key and \(reason)")
        try await service.authenticate(withProtectedKeyOf: pin.copy())
        hold(pin)
    }

    private func authenticate(_ text: borrowing Secret, _ metadata: ManagementKeyMetadata?) async throws {
        try await authenticate(ManagementKey(try HexSecret.decode(text)), metadata)
    }

    private func authenticate(_ key: consuming ManagementKey, _ metadata: ManagementKeyMetadata?) async throws {
        guard metadata?.touch != .never, metadata != nil else { return try await service.authenticate(with: key) }
        let prompt = TouchPrompt(world.terminal)
        defer { prompt.end() }
        try await service.authenticate(with: key)
    }

    private var stopped: Explanation {
        world.plan?.stop()
        return Explanation("plan", .failed, "the plan ends here")
    }
}

/// Secrets in hexadecimal.
enum HexSecret {
    /// Decodes the bytes; ignores spaces and colons.
    static func decode(_ text: borrowing Secret) throws -> Secret {
        var digits = text.copyBytes().filter { !Array(" :".utf8).contains($0) }
        defer { Secret.wipe(&digits) }
        guard var bytes = try? Hex.decode(String(decoding: digits, as: UTF8.self)), !bytes.isEmpty else {
            throw Explanation.usage("a management key is written in hexadecimal digits: 32, 48 or 64 of them")
        }
        defer { Secret.wipe(&bytes) }
        return Secret(bytes)
    }
}
