// SPDX-License-Identifier: Apache-2.0

import YKProtocols
package import YKWire

/// Collects a reply that ends with 61xx by requesting the rest (ISO 7816-4 §11.5.1), with limits on rounds and bytes.
///
/// xx is not trusted as a length: CanoKey 3.0 answers 61FF for "more, of any length". Le is always sent, because
/// without it that firmware repeats 61xx for ever. It is xx only once a card has sent no data for the largest Le, which
/// smartcard-app-openpgp 0.4.0 takes for none.
package final class ResponseChaining: CardStage {
    private let next: any CardStage
    /// The instruction that requests the rest: GET RESPONSE, or the application's own.
    package var continuation = ISO7816.getResponse
    /// The maximum number of rounds for one reply.
    package var roundLimit = 1024
    /// The maximum size of one reply, in bytes.
    package var byteLimit = 256 * 1024
    /// Whether the card sends data only for the length that it announced.
    private var needsLength = false

    package init(next: any CardStage) { self.next = next }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        var response = try next.send(command, deadline: deadline)
        guard response.status.bytesRemaining != nil else { return response }
        var collected = response.data
        for _ in 0..<roundLimit {
            let left = response.status.bytesRemaining ?? 0
            let length = needsLength && left > 0 ? APDU.Le.bytes(UInt16(clamping: left)) : .max
            let more = APDU(cla: command.isProtected ? 0 : command.cla & ~0x10, ins: continuation, le: length)
            response = try next.send(more, deadline: deadline)
            collected += response.data
            guard response.status.bytesRemaining != nil else {
                return ResponseAPDU(response.status, data: collected)
            }
            if response.data.isEmpty, length == .max, left > 0, !needsLength {
                needsLength = true
                continue
            }
            guard !response.data.isEmpty, collected.count <= byteLimit else { break }
        }
        throw .endlessReply(during: command.label)
    }
}
