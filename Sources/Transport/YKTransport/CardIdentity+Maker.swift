// SPDX-License-Identifier: Apache-2.0

import YKWire

extension CardIdentity {
    /// Whether this is a YubiKey according to its ATR, or to the reader's name unless the ATR contradicts it.
    package var isYubiKey: Bool {
        text.contains(bytesOf: "yubi")
            || reader.lowercased().contains(bytesOf: "yubi") && !Self.others.contains { text.contains(bytesOf: $0) }
    }

    /// Whether this is a CanoKey: canokey-core has `Canokey` in the historical bytes of its ATR.
    package var isCanoKey: Bool { text.contains(bytesOf: "canokey") }

    /// Whether this is a Token2 key according to the reader's name.
    package var isToken2: Bool { reader.lowercased().contains(bytesOf: "token2") }

    /// Other vendors, whose keys may be in a reader with "yubi" in its name, such as a virtual one.
    private static let others = ["canokey", "nitrokey", "solo"]

    /// The printable part of the ATR, in lower case.
    private var text: String {
        String(decoding: atr.map { (0x20..<0x7F).contains($0) ? $0 : 0x20 }, as: UTF8.self).lowercased()
    }

    /// Whether the reader is not known to be limited to short commands.
    package var readerTakesExtendedLength: Bool { maxCommandLength.map { $0 > 261 } ?? true }
}
