// SPDX-License-Identifier: Apache-2.0

public import YKFIDO
public import YKKeys

extension Key {
    /// Returns the tokens of a volume that are for this key. FIDO2 credentials are tried without touch and PIN; a key
    /// in a PIV slot is recognized by the serial number in its URI.
    ///
    /// - Throws: `FIDOError` or `KeyError` if the key cannot be queried.
    public func ownTokens(_ tokens: [LUKSToken]) async throws -> [LUKSToken] {
        var own = tokens.filter { token in
            if case .pkcs11 = token.kind { token.serial != nil && token.serial == serial } else { false }
        }
        if tokens.contains(where: { if case .fido2 = $0.kind { true } else { false } }) {
            do {
                let service = try await open(FIDOService.self)
                own += try await service.ownTokens(tokens)
                await service.close()
            } catch { if !KeyError.isAbsence(ofApplication: error) { throw error } }
        }
        return own.sorted { $0.number < $1.number }
    }
}

extension FIDOService {
    /// Returns the tokens of a volume whose credentials are on this key, as far as it reports them without touch and PIN.
    public func ownTokens(_ tokens: [LUKSToken]) throws(FIDOError) -> [LUKSToken] {
        var own: [LUKSToken] = []
        for token in tokens {
            guard case .fido2(let found) = token.kind, try owns(found.credential, rpID: found.rpID) else { continue }
            own.append(token)
        }
        return own
    }
}
