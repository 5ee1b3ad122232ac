// SPDX-License-Identifier: Apache-2.0

/// The client data of a ceremony: the whole JSON, or only its hash if another program wrote it.
public enum ClientDataSource: Hashable, Sendable {
    /// The JSON.
    case text(ClientData)
    /// SHA-256 of unknown JSON, 32 bytes.
    case hash([UInt8])

    /// SHA-256 of the JSON.
    public var hash: [UInt8] {
        switch self {
        case .text(let data): data.hash
        case .hash(let hash): hash
        }
    }

    /// The JSON in UTF-8, if known.
    public var bytes: [UInt8]? { if case .text(let data) = self { data.bytes } else { nil } }
}
