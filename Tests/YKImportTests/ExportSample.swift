// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import YKCrypto
import YKImport
import YKOATH

/// A file that an authenticator could have written.
struct ExportSample {
    let bytes: [UInt8]
    /// The password of the samples.
    static let password = SharedSecret(Secret(utf8: "test-password"))

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Its format, and its accounts in one line each, or the field for which a key cannot hold one.
    func summary(column: String? = nil) throws -> (format: AuthenticatorExport.Format, lines: [String]) {
        let export = try #require(try AuthenticatorExport.recognize(bytes, column: column))
        let lines = try export.entries(password: Self.password).map { entry in
            switch entry.account {
            case .failure(let error): return "\(entry.label): \(error.field.rawValue)"
            case .success(let account):
                let factor =
                    account.id.type == .hotp
                    ? "counter \(account.counter)" : "\(account.id.period.components.seconds) s"
                return
                    "\(account.id.issuer ?? "-") | \(account.id.name) | \(account.algorithm) \(account.digits) \(factor)"
                    + (account.id.isSteam ? " Steam" : "")
            }
        }
        return (export.format, lines)
    }

    /// The secrets of its accounts in hexadecimal.
    func secrets() throws -> [String] {
        let entries = try #require(try AuthenticatorExport.recognize(bytes)).entries(password: Self.password)
        return entries.compactMap { try? $0.account.get().secret.value.copyBytes() }.map { bytes in
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
    }

    /// Cut or changed anywhere, it is refused or read; nothing traps.
    func survives(every step: Int = 1) {
        for count in stride(from: 0, to: bytes.count, by: step) {
            Self.read(Array(bytes.prefix(count)))
            for change in [0x01, 0x11, 0x80] as [UInt8] {
                var changed = bytes
                changed[count] ^= change
                Self.read(changed)
            }
        }
    }

    private static func read(_ bytes: [UInt8]) {
        _ = try? AuthenticatorExport.recognize(bytes)?.entries(password: password)
    }
}
