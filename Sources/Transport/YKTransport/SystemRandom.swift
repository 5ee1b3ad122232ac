// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The operating system's random bytes.
public struct SystemRandom: RandomSource {
    /// Maximum number of bytes per system call (getentropy(3)).
    private static let portion = 256

    /// Creates a source.
    public init() {}

    /// Draws bytes from the system's cryptographic generator, as many at once as it provides; on a system without
    /// getentropy(3) one by one with Swift's generator, which terminates the program when no randomness is available.
    public func draw(_ count: Int, secret: Bool) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(0, count)) { room, filled in
            while filled < max(0, count) {
                let part = room[filled..<min(filled + Self.portion, max(0, count))]
                if getentropy(room.baseAddress?.advanced(by: filled), part.count) == 0 {
                    filled += part.count
                } else {
                    room[filled] = UInt8.random(in: .min ... .max)
                    filled += 1
                }
            }
        }
    }
}
