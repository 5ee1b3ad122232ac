// SPDX-License-Identifier: Apache-2.0

/// What a ceremony's client data are: the whole text, or only its hash when another program wrote it.
public enum ClientDataSource: Hashable, Sendable {
    /// The text.
    case text(ClientData)
    /// SHA-256 of a text that is not known here, 32 bytes.
    case hash([UInt8])

    /// SHA-256 of the text.
    public var hash: [UInt8] {
        switch self {
        case .text(let data): data.hash
        case .hash(let hash): hash
        }
    }

    /// The text in UTF-8, where it is known.
    public var bytes: [UInt8]? { if case .text(let data) = self { data.bytes } else { nil } }
}
