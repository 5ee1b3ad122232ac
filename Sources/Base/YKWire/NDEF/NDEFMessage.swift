// SPDX-License-Identifier: Apache-2.0

/// An NDEF message: a list of records (NFC Forum NDEF 1.0 §2.1).
public struct NDEFMessage: Hashable, Sendable {
    /// The records in order; chunked ones are reassembled.
    public var records: [NDEFRecord]

    /// Creates a message.
    public init(_ records: [NDEFRecord]) { self.records = records }

    /// The meanings of the records; unreadable records are omitted.
    public var contents: [NDEFContent] { records.compactMap { try? $0.content() } }
}
