// SPDX-License-Identifier: Apache-2.0

/// A QR code of a Google Authenticator export: some accounts, and which part of the export this is.
public struct MigrationPayload: Sendable {
    /// Maximum size of a payload in bytes.
    public static let byteLimit = 1 << 20

    /// The accounts that can be used, in order.
    public var accounts: [NewOATHAccount]
    /// Why the other accounts of the export cannot be used, each with its index.
    public internal(set) var unusable: [MigrationError] = []
    /// The version of the format.
    public var version: Int
    /// The number of QR codes in the whole export.
    public var batchSize: Int
    /// The index of this one, from 0.
    public var batchIndex: Int
    /// The identifier that all QR codes of one export share.
    public var batchID: Int

    /// Creates a payload, by default the only one of its export.
    public init(
        accounts: [NewOATHAccount], version: Int = 1, batchSize: Int = 1, batchIndex: Int = 0, batchID: Int = 0
    ) {
        self.accounts = accounts
        self.version = version
        self.batchSize = batchSize
        self.batchIndex = batchIndex
        self.batchID = batchID
    }
}
