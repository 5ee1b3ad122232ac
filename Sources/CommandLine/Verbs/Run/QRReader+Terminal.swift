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
}

extension Terminal {
    /// A QR reader that ^C cancels.
    package var qrReader: QRReader { QRReader(cancellation: stage.environment.cancellation) }
}
