// SPDX-License-Identifier: Apache-2.0

/// A URI whose beginning is one byte (NFC Forum URI RTD 1.0 §3.2).
public struct NDEFURI: Hashable, Sendable, CustomStringConvertible {
    /// The code of the beginning: 00 for none, 04 for `https://`.
    public var code: UInt8
    /// What follows the beginning: UTF-8, or what a key types into it.
    public var rest: [UInt8]

    /// Makes a URI of a code and what follows.
    public init(code: UInt8, rest: [UInt8]) {
        self.code = code
        self.rest = rest
    }

    /// Shortens a URI by the longest beginning that fits.
    public init(_ uri: String) {
        let bytes = Array(uri.utf8)
        var best = 0
        for (code, prefix) in Self.prefixes.enumerated()
        where prefix.utf8.count > Self.prefixes[best].utf8.count && bytes.starts(with: prefix.utf8) {
            best = code
        }
        self.init(code: UInt8(best), rest: Array(bytes.dropFirst(Self.prefixes[best].utf8.count)))
    }

    /// What the code stands for; nothing for the codes that are kept for the future (§3.2.2).
    public var prefix: String { Int(code) < Self.prefixes.count ? Self.prefixes[Int(code)] : "" }

    /// The whole URI in bytes.
    public var bytes: [UInt8] { Array(prefix.utf8) + rest }

    /// The whole URI; bytes that are no UTF-8 become the replacement character.
    public var description: String { prefix + String(decoding: rest, as: UTF8.self) }

    /// The beginnings by code (§3.2.2, table 3).
    public static let prefixes = [
        "", "http://www.", "https://www.", "http://", "https://", "tel:", "mailto:", "ftp://anonymous:anonymous@",
        "ftp://ftp.", "ftps://", "sftp://", "smb://", "nfs://", "ftp://", "dav://", "news:", "telnet://", "imap:",
        "rtsp://", "urn:", "pop:", "sip:", "sips:", "tftp:", "btspp://", "btl2cap://", "btgoep://", "tcpobex://",
        "irdaobex://", "file://", "urn:epc:id:", "urn:epc:tag:", "urn:epc:pat:", "urn:epc:raw:", "urn:epc:", "urn:nfc:",
    ]
}

extension NDEFURI {
    /// Reads the payload of a record of type `U`.
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
