// SPDX-License-Identifier: Apache-2.0

/// The place of a QR code in a Google Authenticator export with several.
public struct MigrationPart: Hashable, Sendable {
    /// The identifier that all QR codes of one export share.
    public let batchID: Int
    /// The number of QR codes in the whole export.
    public let count: Int
    /// The number of this one, from 1.
    public let number: Int

    /// An export with missing QR codes.
    public struct Gap: Hashable, Sendable {
        /// The number of QR codes in the whole export.
        public let count: Int
        /// The numbers of the missing ones, from 1.
        public let missing: [Int]
    }

    /// Returns the exports that are incomplete, in the order of their first parts.
    public static func gaps(among parts: [MigrationPart]) -> [Gap] {
        var found: [[MigrationPart]] = []
        for part in parts {
            let place = found.firstIndex { $0.first?.batchID == part.batchID && $0.first?.count == part.count }
            if let place { found[place].append(part) } else { found.append([part]) }
        }
        return found.compactMap { batch in
            guard let count = batch.first?.count else { return nil }
            let missing = Set(1...count).subtracting(batch.map(\.number)).sorted()
            return missing.isEmpty ? nil : Gap(count: count, missing: missing)
        }
    }
}

extension MigrationPayload {
    private static let partLimit = 1000

    /// Which part of its export this is; `nil` if it is the only one, or its numbers are impossible.
    public var part: MigrationPart? {
        guard (2...Self.partLimit).contains(batchSize), (0..<batchSize).contains(batchIndex) else { return nil }
        return MigrationPart(batchID: batchID, count: batchSize, number: batchIndex + 1)
    }
}
