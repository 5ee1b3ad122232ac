// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Why an applet does not answer with 9000.
package enum Refusal: Error, Hashable, Sendable {
    /// The command ends with this status word.
    case status(StatusWord)
    /// The key is still waiting for a touch: the command has not ended.
    case waitingForTouch
    /// The key generates a key pair: the command has not ended, and nothing has changed.
    case computing
    /// The command has not ended; the host was told to poll again (9100), with this keepalive status.
    case stillWorking(UInt8)
    /// A CTAP2 message ends with this status.
    case ctap(UInt8)

    /// The command ends with 63Cn: a PIN or key is wrong, and n tries are left (15 stands for 15 or more).
    static func wrong(triesLeft count: Int) -> Refusal { .status(StatusWord(0x63C0 | UInt16(min(15, max(0, count))))) }
}
