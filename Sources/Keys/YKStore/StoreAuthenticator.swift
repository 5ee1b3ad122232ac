// SPDX-License-Identifier: Apache-2.0

import YKCrypto
public import YKFIDO
public import YKTransport
import YKWire

/// Seals and opens stores with the hmac-secret of a FIDO2 key.
public struct StoreAuthenticator: Sendable {
    /// The relying party of the credentials.
    public static let relyingParty = "ykit:store"

    private let service: FIDOService
    private let random: any RandomSource

    /// Creates an authenticator that uses a security key.
    public init(_ service: FIDOService, _ random: any RandomSource) {
        self.service = service
        self.random = random
    }

    /// Creates a credential and encrypts a store's key under its hmac-secret. Requires one touch for the credential,
    /// and one for the secret unless the key returns it immediately (hmac-secret-mc).
    ///
    /// The user is verified if the key supports it; otherwise anyone who has the key can open the store.
    ///
    /// - Parameters:
    ///   - key: The store's key.
    ///   - name: The display name.
    ///   - isDiscoverable: Whether the key stores the credential. Deleting it then makes old copies of the file
    ///     unreadable with this key.
    ///   - known: The store's existing seals; the key must not be among them.
    /// - Throws: `cannotSeal`, `duplicateKey`, or `fido`.
    public func seal(
        _ key: StoreKey, name: String, isDiscoverable: Bool, added: Int64, besides known: [StoreSeal]
    ) async throws(StoreError) -> StoreSeal {
        let info = try await info()
        guard info.extensions.contains("hmac-secret") else { throw .cannotSeal }
        let isVerified = info.hasPIN || info.hasBuiltInUV
        let salt = try StoreRandom.draw(32, random, secret: false)
        guard let salts = HMACSecretSalts(salt) else { throw .cannotSeal }
        var request = RegistrationRequest(
            clientDataHash: try StoreRandom.draw(32, random, secret: false),
            relyingParty: RelyingParty(id: Self.relyingParty, name: "ykit"),
            user: FIDOUser(
                id: try StoreRandom.draw(16, random, secret: false), name: name, displayName: "ykit store: \(name)"))
        request.algorithms = [.es256]
        request.isResident = isDiscoverable
        request.userVerification = isVerified ? .required : .discouraged
        request.extensions.createsHMACSecret = true
        request.extensions.salts = salts
        request.excludeList = known.compactMap(\.credential)
        let made: Registration
        do { made = try await service.register(request) } catch {
            if error == .credentialExcluded { throw .duplicateKey(name) }
            throw .fido(error)
        }
        guard let credential = made.response.authenticatorData.credential, made.extensions.hasHMACSecret else {
            throw .cannotSeal
        }
        let means = StoreSeal.Means.fido(
            credential: credential.id, salt: salt, isVerified: isVerified, isDiscoverable: made.isResident)
        let secret: HMACSecrets
        if let given = made.extensions.secrets {
            secret = given
        } else {
            secret = try await assert([(CredentialDescriptor(id: credential.id), salts)], isVerified).secrets
        }
        return try StoreSeal(key, under: secret.first.value, means, name: name, added: added, random)
    }

    /// Opens a store with the key, after one touch.
    ///
    /// - Throws: `notThisKey`, `notOpened`, or `fido`.
    public func open(_ seals: [StoreSeal]) async throws(StoreError) -> (StoreKey, StoreSeal) {
        let info = try await info()
        let canVerify = info.hasPIN || info.hasBuiltInUV
        for isVerified in canVerify ? [true, false] : [false, true] {
            var candidates: [(CredentialDescriptor, HMACSecretSalts)] = []
            for seal in seals {
                guard case .fido(let credential, let salt, isVerified, _) = seal.means,
                    let salts = HMACSecretSalts(salt)
                else { continue }
                candidates.append((CredentialDescriptor(id: credential), salts))
            }
            guard !candidates.isEmpty else { continue }
            do throws(StoreError) {
                let (credential, secrets) = try await assert(candidates, isVerified)
                guard let seal = seals.first(where: { $0.credential?.id == credential }) else {
                    throw StoreError.notThisKey
                }
                return (try seal.open(secrets.first.value), seal)
            } catch {
                guard error == .fido(.noCredentials) else { throw error }
            }
        }
        throw .notThisKey
    }

    /// Deletes those credentials of seals that are stored on the key; others cannot be deleted.
    public func delete(_ seals: [StoreSeal]) async throws(StoreError) {
        for seal in seals {
            guard case .fido(let credential, _, _, true) = seal.means else { continue }
            do { try await service.delete(CredentialDescriptor(id: credential)) } catch {
                if error == .noCredentials { continue }
                throw .fido(error)
            }
        }
    }

    private func info() async throws(StoreError) -> AuthenticatorInfo {
        guard await service.hasCTAP2 else { throw .cannotSeal }
        do { return try await service.info() } catch { throw .fido(error) }
    }

    private func assert(
        _ candidates: [(CredentialDescriptor, HMACSecretSalts)], _ isVerified: Bool
    ) async throws(StoreError) -> (id: [UInt8], secrets: HMACSecrets) {
        var request = AssertionRequest(
            rpID: Self.relyingParty, clientDataHash: try StoreRandom.draw(32, random, secret: false),
            allowList: candidates.map(\.0))
        request.userVerification = isVerified ? .required : .discouraged
        if let only = candidates.first, candidates.count == 1 {
            request.extensions.salts = only.1
        } else {
            for (credential, salts) in candidates { request.extensions.saltsByCredential[credential.id] = salts }
        }
        do {
            let assertions = try await service.assert(request)
            guard let assertion = assertions.first, let secrets = assertion.extensions.secrets else {
                throw StoreError.cannotSeal
            }
            return (assertion.credential.id, secrets)
        } catch let error as StoreError {
            throw error
        } catch let error as FIDOError {
            throw .fido(error)
        } catch {
            throw .notOpened
        }
    }
}

extension StoreSeal {
    var credential: CredentialDescriptor? {
        guard case .fido(let credential, _, _, _) = means else { return nil }
        return CredentialDescriptor(id: credential)
    }
}
