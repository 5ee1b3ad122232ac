// SPDX-License-Identifier: Apache-2.0

/// What a tag tells: a list of records (NFC Forum NDEF 1.0 §2.1).
public struct NDEFMessage: Hashable, Sendable {
    /// The records in order, those that came in chunks put together.
    public var records: [NDEFRecord]

    /// Makes a message.
    public init(_ records: [NDEFRecord]) { self.records = records }

    /// The records with what they mean; those whose content cannot be read are left out.
    public var contents: [NDEFContent] { records.compactMap { try? $0.content() } }
}
