// SPDX-License-Identifier: Apache-2.0

import YKTransport

/// The accounts on a key whose names conflict with a new one.
public struct OATHNameConflicts: Sendable, Hashable {
    /// The account of the same name, which would be overwritten.
    public let duplicate: OATHAccount?
    /// The accounts whose name begins with the new one.
    public let extending: [OATHAccount]
    /// Whether this firmware damages an account whose name begins with the new one (YubiKey 4.0 to 4.3.4).
    public let isHarmful: Bool

    /// Whether there are no conflicts.
    public var isEmpty: Bool { duplicate == nil && extending.isEmpty }

    init(of id: OATHAccountID, among accounts: [OATHAccount], info: OATHInfo) {
        duplicate = accounts.first { $0.id.rawName == id.rawName }
        extending = accounts.filter { $0.id.rawName.count > id.rawName.count && $0.id.rawName.starts(with: id.rawName) }
        let version = info.isYubiKey ? info.version : nil
        let hasFault = version.map { $0 >= FirmwareVersion(4, 0, 0) && $0 < FirmwareVersion(4, 3, 5) } ?? false
        isHarmful = hasFault && !extending.isEmpty
    }
}
