// SPDX-License-Identifier: Apache-2.0

/// A URI with its prefix abbreviated to one byte (NFC Forum URI RTD 1.0 §3.2).
public struct NDEFURI: Hashable, Sendable, CustomStringConvertible {
    /// The prefix code: 00 for none, 04 for `https://`.
    public var code: UInt8
    /// The bytes after the prefix: UTF-8, or what a key types into it.
    public var rest: [UInt8]

    /// Creates a URI from a prefix code and the rest.
    public init(code: UInt8, rest: [UInt8]) {
        self.code = code
        self.rest = rest
    }

    /// Abbreviates the longest matching prefix of a URI.
    public init(_ uri: String) {
        let bytes = Array(uri.utf8)
        var best = 0
        for (code, prefix) in Self.prefixes.enumerated()
        where prefix.utf8.count > Self.prefixes[best].utf8.count && bytes.starts(with: prefix.utf8) {
            best = code
        }
        self.init(code: UInt8(best), rest: Array(bytes.dropFirst(Self.prefixes[best].utf8.count)))
    }

    /// The prefix for the code; empty for reserved codes (§3.2.2).
    public var prefix: String { Int(code) < Self.prefixes.count ? Self.prefixes[Int(code)] : "" }

    /// The whole URI as bytes.
    public var bytes: [UInt8] { Array(prefix.utf8) + rest }

    /// The whole URI; invalid UTF-8 becomes the replacement character.
    public var description: String { prefix + String(decoding: rest, as: UTF8.self) }

    /// The prefixes by code (§3.2.2, table 3).
    public static let prefixes = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:", "urn:nfc:",
    ]
}

extension NDEFURI {
    /// Decodes the payload of a record of type `U`.
    public init(decoding payload: [UInt8]) throws(WireError) {
        var reader = ByteReader(payload)
        code = try reader.byte("the code of the URI's beginning")
        rest = reader.rest()
    }

    /// The payload of a record of type `U`.
    public var encoded: [UInt8] { [code] + rest }

    /// The record that holds it.
    public var record: NDEFRecord { NDEFRecord(wellKnown: "U", payload: encoded) }
}
