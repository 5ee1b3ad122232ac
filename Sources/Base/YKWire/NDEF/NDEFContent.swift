// SPDX-License-Identifier: Apache-2.0

/// What a record means.
public enum NDEFContent: Hashable, Sendable {
    /// Nothing.
    case empty
    /// A URI (type `U`).
    case uri(NDEFURI)
    /// A text (type `T`).
    case text(NDEFText)
    /// A URI with what is to be known of it (type `Sp`).
    case smartPoster(NDEFSmartPoster)
    /// Another type of the NFC Forum's.
    case wellKnown(type: String, [UInt8])
    /// Data of a media type.
    case media(type: String, [UInt8])
    /// A URI that stands in the record's type; the payload belongs to it.
    case absoluteURI(String, [UInt8])
    /// A type of somebody's own.
    case external(type: String, [UInt8])
    /// Bytes of which nobody says what they are.
    case unknown([UInt8])
}

extension NDEFRecord {
    /// What the record means. Throws when the payload is not what its type says.
    public func content() throws(WireError) -> NDEFContent {
        switch format {
        case .empty: .empty
        case .wellKnown: try wellKnown()
        case .media: .media(type: typeName, payload)
        case .absoluteURI: .absoluteURI(typeName, payload)
        case .external: .external(type: typeName, payload)
        case .unknown, .unchanged, .reserved: .unknown(payload)
        }
    }

    private func wellKnown() throws(WireError) -> NDEFContent {
        switch type {
        case Array("U".utf8): .uri(try NDEFURI(decoding: payload))
        case Array("T".utf8): .text(try NDEFText(decoding: payload))
        case Array("Sp".utf8): .smartPoster(try NDEFSmartPoster(decoding: payload))
        default: .wellKnown(type: typeName, payload)
        }
    }
}
