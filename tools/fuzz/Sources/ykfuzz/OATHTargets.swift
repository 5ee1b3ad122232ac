// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKImport
import YKOATH
import YKWire

private let challenge: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]

extension FuzzTarget {
    static let oath: [FuzzTarget] = [
        FuzzTarget(name: "otpauth") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            _ = try? OtpauthURI.parse(text, validating: false)
            guard let account = try? OtpauthURI.parse(text) else { return }
            // Reading drops white space around a name.
            guard account.id.name.first?.isWhitespace != true, account.id.name.last?.isWhitespace != true else {
                return
            }
            let again = try? OtpauthURI.parse(OtpauthURI.text(account))
            require(again?.id == account.id && again?.digits == account.digits, "an otpauth URI changes on its way")
        },
        FuzzTarget(name: "migration") { bytes in
            _ = try? MigrationPayload(parsing: String(decoding: bytes, as: UTF8.self))
            let text = "otpauth-migration://offline?data=" + Base64.encode(bytes).percentEncoded
            _ = try? MigrationPayload(parsing: text)
        },
        FuzzTarget(name: "pskc") { bytes in
            _ = PSKC.matches(bytes)
            _ = try? PSKC.protection(of: bytes)
            _ = try? PSKC(parsing: bytes)
        },
        FuzzTarget(name: "export") { bytes in
            guard let export = try? AuthenticatorExport.recognize(bytes), !export.needsPassword else { return }
            _ = try? export.entries(column: export.columns.last)
        },
        FuzzTarget(name: "export-column") { bytes in
            for column in ["2", "secret"] { _ = try? AuthenticatorExport.recognize(bytes, column: column)?.entries() }
        },
        FuzzTarget(name: "export-encrypted") { bytes in
            guard let export = try? AuthenticatorExport.recognize(bytes), export.needsPassword else { return }
            // A file may ask for seconds of key derivation; those that do are left out.
            if let json = try? JSONValue(parsing: bytes) {
                guard json.isCheap else { return }
            } else if export.format == .andOTP {
                guard bytes.prefix(4).reduce(0, { $0 << 8 | Int($1) }) <= 1 << 12 else { return }
            } else if export.format == .freeOTP {
                guard !bytes.hasLongNumber else { return }
            }
            _ = try? export.entries(password: SharedSecret(Secret(utf8: "test-password")))
        },
        FuzzTarget(name: "oath-select") { bytes in
            withOATH(pieces(bytes), select: .fuzzed) { _ = try await $0.accounts() }
        },
        FuzzTarget(name: "oath-list") { bytes in withOATH(pieces(bytes)) { _ = try await $0.accounts() } },
        FuzzTarget(name: "oath-codes") { bytes in withOATH(pieces(bytes)) { _ = try await $0.codes() } },
        FuzzTarget(name: "oath-calculate") { bytes in
            let id = OATHAccountID(issuer: "Steam", name: "a", period: .seconds(30), type: .totp)
            let plain = OATHAccountID(issuer: nil, name: "b", period: .seconds(60), type: .totp)
            withOATH(pieces(bytes)) { service in
                _ = try? await service.code(for: id)
                _ = try? await service.code(for: plain)
                _ = try? await service.response(for: plain, challenge: challenge)
                try await service.delete(plain)
            }
        },
        FuzzTarget(name: "oath-validate") { bytes in
            withOATH(pieces(bytes), select: .locked) { service in
                try await service.unlock(with: AccessKey(rawKey: Secret([UInt8](repeating: 7, count: 16))))
                try await service.setAccessKey(AccessKey(rawKey: Secret([UInt8](repeating: 8, count: 16))))
                try await service.reset()
            }
        },
    ]
}

extension String {
    fileprivate var percentEncoded: String {
        replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }
}

extension [UInt8] {
    /// Whether they have five digits in a row, or a number with an exponent.
    fileprivate var hasLongNumber: Bool {
        var digits = 0
        for byte in self {
            digits = (0x30...0x39).contains(byte) || byte | 0x20 == 0x65 && digits > 0 ? digits + 1 : 0
            if digits == 5 { return true }
        }
        return false
    }
}

extension JSONValue {
    /// Whether no number in it is large, so that deriving a key from a password takes milliseconds.
    fileprivate var isCheap: Bool {
        switch self {
        case .int(let number): number <= 1 << 14
        case .array(let values): values.allSatisfy { $0.isCheap }
        case .object(let object): object.members.allSatisfy { $0.value.isCheap }
        default: true
        }
    }
}
