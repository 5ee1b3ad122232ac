// SPDX-License-Identifier: Apache-2.0

import YKCrypto

/// A secret that was made up, told once: in a new file, else on the terminal, never in the results.
///
/// It is made before a key gets the secret, so that no key has one that nobody could be told.
struct Disclosure {
    private let words: String
    private let text: SharedSecret
    private let isShown: Bool
    /// The lines of a QR code with the text.
    private var code: [String] = []

    /// Writes the text into a new file, or makes sure that there is a terminal to show it on.
    ///
    /// - Parameter drawing: Draws a QR code to show besides.
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
            try Files.create(line, at: file)
        } else {
            _ = try Prompt(orElse: hint)
        }
    }

    /// Shows the QR code, and the text unless a file has it.
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
