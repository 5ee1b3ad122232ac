// SPDX-License-Identifier: Apache-2.0

package import YKCrypto
package import YKPIV
import YKSSH

extension KeyFile {
    /// Reads a private key of OpenSSH.
    ///
    /// - Parameter passphrase: Asks for the passphrase of an encrypted key; `nil` to refuse one.
    /// - Throws: `SSHError`, and what `passphrase` throws.
    package static func openSSH(_ bytes: [UInt8], passphrase: (() throws -> Secret)?) throws -> KeyFile {
        do throws(SSHError) { return KeyFile(privateKey: try SSHPrivateKey(parsing: bytes).key) } catch {
            guard case .encrypted(let cipher) = error, SecurityKeyFile.decrypts(cipher), passphrase != nil else {
                throw error
            }
        }
        let given = try passphrase.map { SharedSecret(try $0()) }
        return KeyFile(privateKey: try SSHPrivateKey(parsing: bytes, passphrase: given).key)
    }
}
