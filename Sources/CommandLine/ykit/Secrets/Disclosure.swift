// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// A generated secret, shown once: in a file, or else on the terminal, never in the results.
///
/// It is created before the key receives the secret, so that the key never holds one that could not be shown.
struct Disclosure {
    private let words: String
    private let text: SharedSecret
    private let isShown: Bool
    /// The lines of a QR code of the text.
    private var code: [String] = []

    /// Writes the text to a new file, or checks that a terminal can show it.
    ///
    /// - Parameter drawing: Draws a QR code to show as well.
    init(
        _ words: String, _ text: SharedSecret, in file: String?, as drawing: QRDrawing? = nil, orElse hint: String
    ) throws {
        self.words = words
        self.text = text
        isShown = file == nil
        if let drawing {
            let prompt = try Prompt(orElse: "omit --qr, which needs one")
            var bytes = text.value.copyBytes()
            defer { Secret.wipe(&bytes) }
            code = try drawing.lines(bytes, columns: prompt.columns)
        }
        if let file {
            var line = text.value.copyBytes() + [UInt8(ascii: "\n")]
            defer { Secret.wipe(&line) }
            let output = try FileOutput(file: file, force: nil)
            try output.prepare(line)
            try output.settle()
        } else {
            _ = try Prompt(orElse: hint)
        }
    }

    /// Shows the QR code, and the text unless it is in a file.
    func show() throws {
        if !code.isEmpty {
            let prompt = try Prompt(orElse: "")
            for line in code { prompt.tell(line) }
        }
        guard isShown else { return }
        var bytes = text.value.copyBytes()
        defer { Secret.wipe(&bytes) }
        try Prompt(orElse: "").tell("\(words): \(String(decoding: bytes, as: UTF8.self))")
    }
}
