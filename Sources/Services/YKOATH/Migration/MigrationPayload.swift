// SPDX-License-Identifier: Apache-2.0

/// What Google Authenticator exports as one QR code: some accounts, and which part of the export this is.
public struct MigrationPayload: Sendable {
    /// The most bytes of a payload that are read.
    public static let byteLimit = 1 << 20

    /// The accounts that can be used, in order.
    public var accounts: [NewOATHAccount]
    /// Why the other accounts of the export cannot be used, each with its place.
    public internal(set) var unusable: [MigrationError] = []
    /// The version of the format.
    public var version: Int
    /// How many codes the whole export has.
    public var batchSize: Int
    /// Which of them this is, from 0.
    public var batchIndex: Int
    /// What all codes of one export have in common.
    public var batchID: Int

    /// Makes a payload; without further arguments it is the only one of its export.
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
