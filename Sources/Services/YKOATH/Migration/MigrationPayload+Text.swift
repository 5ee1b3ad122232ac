// SPDX-License-Identifier: Apache-2.0

import YKWire

extension MigrationPayload {
    private static let prefix = "otpauth-migration://offline"

    /// Whether a string looks like an export.
    public static func matches(_ text: String) -> Bool { text.trimmed.lowercased().hasPrefix("otpauth-migration:") }

    /// Reads `otpauth-migration://offline?data=…`.
    public init(parsing text: String) throws(MigrationError) {
        let text = text.trimmed
        let parts = text.split(separator: "?", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == Self.prefix || parts[0].lowercased() == Self.prefix + "/",
            let data = parts[1].split(separator: "&").first(where: { $0.hasPrefix("data=") })?.dropFirst(5)
        else { throw .notMigration }
        guard data.utf8.count <= Self.byteLimit * 2 else {
            throw .malformed(WireError(.tooLarge, at: 0, "an export of \(data.utf8.count) characters"))
        }
        guard let decoded = PercentEncoding.decode(data) else {
            throw .badBase64(WireError(.malformed, at: 0, "not percent-encoded"))
        }
        let base64 = String(decoded.map { $0 == " " ? "+" : $0 })
        let bytes = try lift(MigrationError.badBase64) { () throws(WireError) in try Base64.decode(base64) }
        try self.init(decoding: bytes)
    }

    /// The contents of the QR code, including the secrets. The format has no periods other than 30 seconds.
    public var text: String {
        let data = Base64.encode(encoded).flatMap { character in
            switch character {
            case "+": "%2B"
            case "/": "%2F"
            case "=": "%3D"
            default: String(character)
            }
        }
        return "\(Self.prefix)?data=\(String(data))"
    }
}
