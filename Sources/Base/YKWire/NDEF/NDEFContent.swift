// SPDX-License-Identifier: Apache-2.0

/// The meaning of a record.
public enum NDEFContent: Hashable, Sendable {
    /// An empty record.
    case empty
    /// A URI (type `U`).
    case uri(NDEFURI)
    /// A text (type `T`).
    case text(NDEFText)
    /// A smart poster: a URI with information about it (type `Sp`).
    case smartPoster(NDEFSmartPoster)
    /// Another type defined by the NFC Forum.
    case wellKnown(type: String, [UInt8])
    /// Data of a media type.
    case media(type: String, [UInt8])
    /// An absolute URI as the record's type, with its payload.
    case absoluteURI(String, [UInt8])
    /// An external type, defined by an organization.
    case external(type: String, [UInt8])
    /// Bytes of an unknown type.
    case unknown([UInt8])
}

extension NDEFRecord {
    /// Interprets the record.
    ///
    /// - Throws: `WireError` when the payload does not match the type.
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
