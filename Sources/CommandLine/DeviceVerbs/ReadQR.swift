// SPDX-License-Identifier: Apache-2.0

import Arguments
import TerminalIO
import Verbs
import YKCrypto
import YKKeys
import YKWire

/// A QR code of a picture.
struct ReadCode: Report {
    let file: String
    let payload: QRPayload
    let isRevealed: Bool

    /// Whether all or part of the text is masked.
    var isMasked: Bool { !isRevealed && payload.mayHoldSecret }
    /// The text as it is shown.
    var text: String? { isMasked ? payload.masked : payload.text }

    static let members: [Member<ReadCode>] = [
        Member("file") { $0.file },
        Member("kind", "what it is for: " + QRPayload.Kind.allCases.map(\.rawValue).listed()) {
            $0.payload.kind.rawValue
        },
        Member("masked", "whether possible secrets are replaced by …") { $0.isMasked },
        Member("text", "null if the code is not text, or if none of it may be shown") { $0.text },
        Member("bytes", "in base64url, null if masked") { $0.isMasked ? nil : Base64.encodeURL($0.payload.bytes) },
    ]

    /// The lines for people and pipes; bytes that are not text are in hexadecimal.
    var line: String {
        guard !isMasked else { return payload.masked?.printable ?? "…" }
        guard let text = payload.text else { return Hex.encode(payload.bytes) }
        return text.trimmed.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
            .map { String($0).printable }.listed(by: "\n")
    }
}

/// Reads QR codes.
struct ReadQR: Verb {
    static let uses: GlobalUse = []
    static let about = About(
        "Show the contents of the QR codes in a picture, of any kind.",
        discussion: """
            Anything that may be a secret is replaced by '…' unless --reveal is given, even in a pipe: the secret of \
            an account, a password, the parameters of a link, any text that is not known to be harmless. Nothing is \
            opened or sent. '-' is standard input, as in: grim -g "$(slurp)" - | ykit qr -
            """,
        examples: [
            Example("ykit qr qr.png"),
            Example("ykit qr qr.png --reveal", "Print the whole text, with its secret."),
        ])
    static let answer = Shape(Item<[ReadCode]>("codes", "in the order of the pictures"))

    @Argument("pictures", help: "PNG or JPEG, or -.", completion: .input) var pictures: [String]

    @Flag("--reveal", help: "Show masked text in full.") var reveal = false

    func run(in run: Run) throws -> Outcome<[ReadCode]> {
        var codes: [ReadCode] = []
        for file in pictures {
            let name = file == "-" ? "standard input" : file
            var bytes = try Files.read(file)
            defer { Secret.wipe(&bytes) }
            codes += try run.terminal.qrReader.payloads(in: bytes, name.printable).map {
                ReadCode(file: file, payload: $0, isRevealed: reveal)
            }
        }
        var outcome = Outcome(codes, codes.map(\.line))
        if codes.contains(where: \.isMasked) {
            outcome.answer.warnings = [Warning("masked", "secrets are not shown without --reveal")]
        }
        return outcome
    }
}
