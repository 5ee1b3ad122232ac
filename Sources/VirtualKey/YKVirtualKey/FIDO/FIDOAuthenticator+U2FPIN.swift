// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// The U2F PIN of a YubiKey 4 FIPS, which registration requires once after each power-on.
extension FIDOAuthenticator {
    /// VERIFY PIN (43).
    mutating func verifyU2FPIN(_ pin: [UInt8]) throws(Refusal) {
        guard memory.u2fPIN != nil else { throw .status(.commandNotAllowed) }
        power.hasU2FPIN = false
        try check(u2fPIN: pin)
        power.hasU2FPIN = true
    }

    /// SET PIN (44): the length of the new PIN in one byte, the old PIN if there is one, the new PIN. Without the old PIN
    /// it costs no retry (ykman 5.9.2).
    mutating func changeU2FPIN(_ data: [UInt8]) throws(Refusal) {
        guard let length = data.first.map(Int.init), data.count > length else { throw .status(.wrongLength) }
        let old = Array(data.dropFirst().dropLast(length))
        guard FIDOMemory.u2fPINLengths.contains(length) else { throw .status(.wrongLength) }
        if memory.u2fPIN == nil {
            guard old.isEmpty else { throw .status(.commandNotAllowed) }
        } else {
            guard !old.isEmpty else { throw .status(.wrongLength) }
            try check(u2fPIN: old)
        }
        memory.u2fPIN = Array(data.suffix(length))
        power.hasU2FPIN = false
    }

    /// RESET (45): shortly after power-on, with a touch. The key leaves its FIPS mode permanently.
    mutating func resetU2F() throws(Refusal) {
        let window = features.resetWindow ?? 10
        guard power.since.duration(to: .now) <= .seconds(window) else { throw .status(.commandNotAllowed) }
        try u2fTouch()
        memory = memory.afterReset
        memory.hasLeftFIPSMode = true
        power = FIDOPower()
    }

    private mutating func check(u2fPIN pin: [UInt8]) throws(Refusal) {
        guard memory.u2fRetries > 0 else { throw .status(.authenticationBlocked) }
        guard let stored = memory.u2fPIN, constantTimeEqual(stored, pin) else {
            memory.u2fRetries -= 1
            throw .status(memory.u2fRetries == 0 ? .authenticationBlocked : StatusWord(0x63C0))
        }
        memory.u2fRetries = FIDOMemory.allU2FRetries
    }
}
