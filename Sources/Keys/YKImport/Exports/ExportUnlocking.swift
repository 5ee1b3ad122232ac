// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport

/// The password of an encrypted export, and the cancellation that ends the derivation of its keys.
struct ExportUnlocking: Sendable {
    /// Maximum number of PBKDF2 rounds that a file may specify.
    static let roundLimit = 10_000_000

    let password: SharedSecret
    let cancellation: Cancellation

    /// Derives a key with a memory-hard function.
    func key(
        _ hash: PasswordHash, salt: [UInt8], _ format: AuthenticatorExport.Format
    ) throws(ExportError) -> SharedSecret {
        let result = WorkBeside.result(unless: cancellation) {
            [password] () -> Result<SharedSecret, PasswordHash.Failure> in
            do throws(PasswordHash.Failure) {
                return .success(SharedSecret(try hash.derive(password.value, salt: salt, length: 32)))
            } catch { return .failure(error) }
        }
        guard let result else { throw .cancelled }
        do { return try result.get() } catch { throw ExportError(error, format) }
    }

    /// Derives a key with PBKDF2.
    func key(
        _ hash: HashAlgorithm, salt: [UInt8], rounds: Int, length: Int = 32, _ format: AuthenticatorExport.Format
    ) throws(ExportError) -> SharedSecret {
        guard rounds <= Self.roundLimit else { throw .tooExpensive(format) }
        guard rounds > 0 else { throw .malformed(format, "the parameters of the key derivation") }
        let result = WorkBeside.result(unless: cancellation) { [password] () -> SharedSecret? in
            guard let key = try? hash.pbkdf2(password.value, salt: salt, rounds: rounds, length: length) else {
                return nil
            }
            return SharedSecret(key)
        }
        guard let result else { throw .cancelled }
        guard let key = result else { throw .malformed(format, "the parameters of the key derivation") }
        return key
    }
}

extension ExportError {
    init(_ failure: PasswordHash.Failure, _ format: AuthenticatorExport.Format) {
        switch failure {
        case .invalidParameters: self = .malformed(format, "the parameters of the key derivation")
        case .tooExpensive: self = .tooExpensive(format)
        case .missingLibrary(let name): self = .missingLibrary(format, name)
        }
    }
}
