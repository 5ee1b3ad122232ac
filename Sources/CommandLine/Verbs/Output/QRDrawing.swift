// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKCrypto
package import YKHardware

/// Draws QR codes with qrencode, which reads the text from standard input.
package struct QRDrawing {
    private let programs: ProgramRunner
    private let program: String
    private let isPicture: Bool

    /// Finds qrencode before the first command to the key.
    package init(isPicture: Bool, _ programs: ProgramRunner) throws(Explanation) {
        guard let program = programs.find("qrencode") else {
            throw Explanation(
                "no-qrencode", .failed, "drawing QR codes needs qrencode, which is not installed",
                hint: "sudo apt install qrencode")
        }
        (self.programs, self.program, self.isPicture) = (programs, program, isPicture)
    }

    package func draw(_ text: [UInt8]) throws -> [UInt8] {
        let result = try programs.run(
            program, ["-o", "-", "-t", isPicture ? "PNG" : "UTF8", "-l", "L", "-m", "4"], text, [:])
        guard result.status == 0 else { throw Explanation("qrencode", .failed, "qrencode drew nothing") }
        return result.output
    }

    /// Returns the lines of a code for a terminal: half a block per module and a quiet zone of four modules (ISO/IEC
    /// 18004 §9.1). On a styled terminal light modules are white on black, so that neither a dark nor a light theme
    /// inverts the code.
    ///
    /// - Parameter columns: The width of the terminal.
    /// - Throws: `too-narrow` if the code does not fit.
    package func lines(_ text: [UInt8], columns: Int) throws -> [String] {
        var drawn = try draw(text)
        defer { Secret.wipe(&drawn) }
        let lines = String(decoding: drawn, as: UTF8.self).split(separator: "\n").map(String.init)
        let width = lines.map(\.columns).max() ?? 0
        guard width <= columns else {
            throw Explanation(
                "too-narrow", .failed, "the QR code has \(width) columns, the terminal \(columns)",
                hint: "widen the terminal, or omit --qr")
        }
        return lines.map { Style.whiteOnBlack.around($0.padded(to: width)) }
    }
}
