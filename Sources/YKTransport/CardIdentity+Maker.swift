// SPDX-License-Identifier: Apache-2.0

extension CardIdentity {
    /// Whether reader or ATR say that this is a YubiKey: all of them spell it in their historical bytes.
    package var isYubiKey: Bool {
        let text = String(decoding: atr.map { (0x20..<0x7F).contains($0) ? $0 : 0x20 }, as: UTF8.self)
        return text.lowercased().contains("yubi") || reader.lowercased().contains("yubi")
    }

    /// Whether the reader is not known to take only short commands.
    package var readerTakesExtendedLength: Bool { maxCommandLength.map { $0 > 261 } ?? true }
}
