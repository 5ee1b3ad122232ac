// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKOATH
import YKWire

/// Writes down all that a key gives out about its accounts.
struct OATHExport: Verb {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write down names, types, algorithms and periods; keys never give secrets out.",
        discussion: "The lines are otpauth URIs without a secret; nothing can be enrolled from them.")
    static let members = ["accounts"]

    @OptionGroup(title: "Password Options")
    var password: PasswordOptions

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.oath(password)
        let accounts = try await service.accounts()
        let known = try await service.codes(at: world.now)
        let merged = accounts.map { account in
            var account = account
            let entry = known.first { $0.account.id.rawName == account.id.rawName }
            account.digits = account.digits ?? entry?.account.digits
            account.needsTouch = account.needsTouch ?? entry?.account.needsTouch
            return account
        }
        var answer = Answer(
            merged.map(\.uriWithoutSecret),
            ["accounts": .array(merged.map { .object($0.json.with("uri", .string($0.uriWithoutSecret))) })])
        answer.warnings = ["a key never gives its secrets out: this is a list, not a backup"]
        return answer
    }
}

extension JSON.Object {
    func with(_ key: String, _ value: JSON) -> JSON.Object {
        var copy = self
        copy[key] = value
        return copy
    }
}

extension OATHAccount {
    /// The account in the form of an otpauth URI that lacks the secret.
    var uriWithoutSecret: String {
        var label = id.issuer.map { $0.percentEncoded + ":" } ?? ""
        label += id.name.percentEncoded
        var fields = id.issuer.map { ["issuer=" + $0.percentEncoded] } ?? []
        if let algorithm { fields.append("algorithm=\(algorithm)") }
        if let digits { fields.append("digits=\(digits)") }
        if type == .totp { fields.append("period=\(id.period)") }
        return "otpauth://\(type.description.lowercased())/\(label)?" + fields.joined(separator: "&")
    }
}

extension String {
    /// Everything but unreserved characters as %XX (RFC 3986 §2.3).
    var percentEncoded: String {
        var out = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E, 0x40:
                out.unicodeScalars.append(Unicode.Scalar(byte))
            default: out += "%" + Hex.encode([byte]).uppercased()
            }
        }
        return out
    }
}
