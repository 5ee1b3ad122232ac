// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKPIV

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
}
