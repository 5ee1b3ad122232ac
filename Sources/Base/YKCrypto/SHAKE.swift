// SPDX-License-Identifier: Apache-2.0

import COpenSSL

/// A hash function whose output has any length (FIPS 202 §6.2).
enum SHAKE: String {
    case shake128 = "SHAKE128"
    case shake256 = "SHAKE256"

    /// Returns the first `size` bytes of the output.
    func hash(_ message: [UInt8], _ size: Int) -> [UInt8] {
        OpenSSL.digest(size) { ykit_shake(rawValue, message, message.count, $0, size) }
    }

    /// The output, byte by byte.
    struct Stream {
        private let function: SHAKE
        private let message: [UInt8]
        private var bytes: [UInt8]
        private var position = 0

        /// Starts with five blocks of SHAKE128, enough for most samplings.
        init(_ function: SHAKE, of message: [UInt8]) {
            self.function = function
            self.message = message
            bytes = function.hash(message, 5 * 168)
        }

        /// Returns the next byte. OpenSSL 3.0 cannot continue an output; a longer one is computed from the start.
        mutating func next() -> UInt8 {
            if position == bytes.count { bytes = function.hash(message, 2 * bytes.count) }
            position += 1
            return bytes[position - 1]
        }
    }
}
