// SPDX-License-Identifier: Apache-2.0

package import TerminalIO
import YKInteraction
package import YKKeys
import YKTransport

extension QRReader {
    /// Returns the texts of all QR codes in an image.
    package func texts(in image: [UInt8], _ name: String) throws(Concerning) -> [String] {
        do { return try texts(in: image) } catch { throw Concerning(.file(name), error) }
    }

    /// Returns what all QR codes in an image hold.
    package func payloads(in image: [UInt8], _ name: String) throws(Concerning) -> [QRPayload] {
        do { return try payloads(in: image) } catch { throw Concerning(.file(name), error) }
    }

    /// Returns the text of the first QR code that is held in front of the camera within a minute.
    package func seen(_ terminal: Terminal) throws -> String {
        terminal.say("hold the QR code in front of the camera, ^C to cancel")
        do { return try seen() } catch .noCode {
            throw Explanation(
                "no-qr-code", .notFound, "the camera showed no QR code",
                hint:
                    "check that a camera is attached and that you may use it (group video), or use a picture: --qr FILE"
            )
        }
    }
}

extension Terminal {
    /// A QR reader that ^C cancels.
    package var qrReader: QRReader { QRReader(cancellation: stage.environment.cancellation) }
}
