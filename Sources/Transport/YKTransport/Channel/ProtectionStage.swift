// SPDX-License-Identifier: Apache-2.0

package import YKWire

/// Sends commands through a secure channel once one is open in the selected application. It is above the chaining
/// stages, because a MAC covers whole commands and whole replies (GlobalPlatform Amendment D §6.2).
package final class ProtectionStage: CardStage {
    private let next: any CardStage
    private let encoding: EncodingStage
    /// The secure channel, if one is required.
    package var protection: (any ChannelProtection)?

    package init(next: any CardStage, encoding: EncodingStage) {
        self.next = next
        self.encoding = encoding
    }

    package func send(_ command: APDU, deadline: Deadline) throws(CardError) -> ResponseAPDU {
        guard let protection else { return try next.send(command, deadline: deadline) }
        let protected = try protection.protect(command, encoding.form)
        do { return try protection.unprotect(try next.send(protected, deadline: deadline)) } catch {
            // It is unknown whether the card received the command, and so the channel's state is unknown too.
            protection.end()
            throw error
        }
    }
}
