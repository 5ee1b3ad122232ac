// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKCrypto
import YKPIV
import YKWire
import YKX509

/// The policies of a new key.
struct KeyPolicyOptions: ParsableArguments {
    @Option(
        "--pin-policy", help: "When the key needs the PIN: default, never, once, always, match-once or match-always.")
    var pinPolicy: PINPolicy = .usual

    @Option(
        "--touch-policy",
        help: "When the key needs a touch: default, never, always or cached, which is once in 15 seconds.")
    var touchPolicy: TouchPolicy = .usual

    var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }

    /// Explains that a key that was just stored has other policies than requested; `nil` if they match or the card does
    /// not report them.
    func problem(of slot: PIVSlot, _ service: PIVService) async -> Explanation? {
        guard pinPolicy != .usual || touchPolicy != .usual,
            let stored = try? await service.metadata(of: slot)?.policies
        else { return nil }
        var wrong: [String] = []
        if pinPolicy != .usual, stored.pin != pinPolicy { wrong.append("PIN \(stored.pin)") }
        if touchPolicy != .usual, stored.touch != touchPolicy { wrong.append("touch \(stored.touch)") }
        guard !wrong.isEmpty else { return nil }
        return Explanation(
            "not-applied", .failed,
            "the key is in \(slot), but the card set other policies: \(wrong.listed())",
            hint: "delete it, unless these will do: ykit piv keys delete \(slot)")
    }
}

/// Asks before data is irrevocably overwritten.
struct KeyOverwriting {
    let world: World
    let service: PIVService
    let force: Bool

    /// Asks if a slot has a key, as far as the card reports it. Returns whether a key there may be replaced.
    @discardableResult func check(_ slot: PIVSlot) async throws -> Bool {
        guard !force, world.plan == nil else { return force }
        let words: String
        do {
            if let metadata = try await service.metadata(of: slot) {
                words = metadata.algorithm.description
            } else {
                words = try await service.findAlgorithm(slot).description
            }
        } catch {
            guard case .noKey = error else { throw error }
            return false
        }
        try Prompt.confirm("slot \(slot) has a key (\(words)), it would be lost for good; go on?")
        return true
    }

    /// Asks if a slot has a certificate, or other data in its place.
    func checkCertificate(_ slot: PIVSlot) async throws {
        guard !force, world.plan == nil else { return }
        let words: String
        do { words = try await service.certificate(slot).subject.description.printable } catch {
            switch error {
            case .noSuchObject: return
            case .malformedObject, .notInflated, .notCertificate: words = "one that cannot be read"
            default: throw error
            }
        }
        try Prompt.confirm("slot \(slot) has a certificate (\(words)), it would be replaced; go on?")
    }

    /// Asks if an object has content.
    func check(_ id: PIVObjectID) async throws {
        guard !force, world.plan == nil else { return }
        do {
            if try await service.object(id).isEmpty { return }
        } catch {
            switch error {
            case .noSuchObject: return
            case .pinRequired: break
            default: throw error
            }
        }
        try Prompt.confirm("there is an object \(id) already, it would be replaced; go on?")
    }
}

extension KeyFile {
    /// Reads the public key in a file: itself, or that of a certificate or a private key.
    static func publicKey(_ path: String) throws -> PublicKey {
        let file = try KeyFile(try Files.read(path))
        if let key = file.publicKey ?? file.certificates.first?.publicKey ?? file.privateKey?.publicKey { return key }
        throw Explanation("no-public-key", .notFound, "\(path.printable) holds no public key")
    }

    /// Reads the certificates in a file; requires at least one.
    static func certificates(_ path: String) throws -> [X509Certificate] {
        let certificates = try KeyFile(try Files.read(path)).certificates
        guard certificates.isEmpty else { return certificates }
        throw noCertificate(path)
    }

    fileprivate static func noCertificate(_ path: String) -> Explanation {
        Explanation("no-certificate", .notFound, "\(path.printable) holds no certificate")
    }
}

extension FilePasswordOptions {
    /// Reads a file of keys and certificates; asks for its password if it has one.
    func read(_ path: String, _ world: World) throws -> KeyFile {
        var bytes = try Files.read(path)
        defer { Secret.wipe(&bytes) }
        do { return try KeyFile(bytes) } catch {
            guard case PIVError.invalidFile(.passwordNeeded) = error else { throw error }
        }
        return try KeyFile(
            bytes, password: SharedSecret(try password("password of \(path.printable)", world.terminal)))
    }

    /// Reads the first certificate of a file; asks for its password if it has one.
    func certificate(_ path: String, _ world: World) throws -> X509Certificate {
        guard let first = try read(path, world).certificates.first else { throw KeyFile.noCertificate(path) }
        return first
    }
}
