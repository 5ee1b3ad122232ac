// SPDX-License-Identifier: Apache-2.0

import YKWire

extension CardIdentity {
    /// Whether the ATR says that this is a YubiKey, as that of all of them does, or else the reader's name, where the ATR
    /// says nothing to the contrary.
    package var isYubiKey: Bool {
        text.contains("yubi") || reader.lowercased().contains("yubi") && !Self.others.contains { text.contains($0) }
    }

    /// Whether the ATR says that this is a CanoKey, as `Canokey` in the historical bytes of canokey-core does.
    package var isCanoKey: Bool { text.contains("canokey") }

    /// Makers whose keys may be in a reader with another name, as virtual ones are.
    private static let others = ["canokey", "nitrokey", "solo"]

    /// What of the ATR can be read, in lower case.
    private var text: String {
        String(decoding: atr.map { (0x20..<0x7F).contains($0) ? $0 : 0x20 }, as: UTF8.self).lowercased()
    }

    /// Whether the reader is not known to take only short commands.
    package var readerTakesExtendedLength: Bool { maxCommandLength.map { $0 > 261 } ?? true }
}
