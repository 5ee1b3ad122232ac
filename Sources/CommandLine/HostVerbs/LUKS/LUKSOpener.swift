// SPDX-License-Identifier: Apache-2.0

import Applications
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
        try await BusyCard.retrying {
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
                let secret = try await LUKSCard(service, run.piv(service, pin), run.person).secret(
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

/// A PIV application whose key derives a passphrase.
struct LUKSCard {
    private let service: PIVService
    private var access: PIVUnlocking
    private let person: any Person

    init(_ service: PIVService, _ access: PIVUnlocking, _ person: any Person) {
        (self.service, self.access, self.person) = (service, access, person)
    }

    /// Returns the secret of a token; requires PIN and touch as the slot does.
    func secret(
        of token: SystemdPKCS11Token, _ slot: PIVSlot, _ kind: PIVAlgorithm, for purpose: String
    ) async throws -> SharedSecret {
        var access = access
        let service = service
        let isRSA = kind.modulusSize != nil
        let use = try await access.prepare(slot, nil, isRSA ? .decrypt : .derive, for: purpose)
        return try await use.touching(person) {
            guard let curve = kind.curve else {
                return try await service.decrypt(token.key, slot, padding: .pkcs1, algorithm: use.algorithm)
            }
            return try await service.derive(with: .ec(curve, point: token.key), slot, algorithm: use.algorithm)
        }
    }
}
