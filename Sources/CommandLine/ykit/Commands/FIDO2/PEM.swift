// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKWire

/// Texts with a DER structure in base 64 between two lines (RFC 7468).
enum PEM {
    /// The text of a structure.
    static func text(_ label: String, _ der: [UInt8]) -> String {
        let body = Array(Base64.encode(der).utf8)
        let lines = stride(from: 0, to: body.count, by: 64).map {
            String(decoding: body[$0..<min($0 + 64, body.count)], as: UTF8.self)
        }
        return (["-----BEGIN \(label)-----"] + lines + ["-----END \(label)-----"]).joined(separator: "\n") + "\n"
    }

    /// The structures of a label in a text, in order.
    static func blocks(_ label: String, in text: String) -> [[UInt8]] {
        var blocks: [[UInt8]] = []
        var body: String?
        for line in text.split(whereSeparator: \.isNewline).map({ String($0).trimmed }) {
            switch line {
            case "-----BEGIN \(label)-----": body = ""
            case "-----END \(label)-----":
                if let bytes = body.flatMap({ try? Base64.decode($0) }) { blocks.append(bytes) }
                body = nil
            default: body?.append(line)
            }
        }
        return blocks
    }
}

extension COSEKey {
    /// The key as a PEM text, where there is such a form.
    var pem: String? { subjectPublicKeyInfo.map { PEM.text("PUBLIC KEY", $0) } }
}
