// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKOpenPGP
package import YKProtocols
import YKTransport
import YKWire

/// A PIN that a far end asks to verify.
package struct RemotePIN: Hashable, Sendable {
    /// The application that has it, PIV or OpenPGP.
    package let application: RemoteApplication
    /// Its number in P2 of VERIFY.
    package let reference: UInt8

    /// What it opens.
    package var kind: CredentialKind { application == .piv ? .pivPIN : .openPGPUserPIN }

    /// Reads the tries that are left, without using one up; `nil` if the card does not report them.
    func tries(_ channel: CardChannel) throws(CardError) -> Int? {
        if application == .openpgp {
            let tag = OpenPGPProtocol.Tag.pinStatus.rawValue
            let status = try channel.transmit(
                APDU(ins: OpenPGPProtocol.Instruction.getData, parameters: UInt16(truncatingIfNeeded: tag)))
            // OpenPGP card 3.4 §4.4.3.5: validity, three lengths, three counters.
            return status.status == .ok && status.data.count >= 7 ? Int(status.data[4]) : nil
        }
        let answer = try channel.transmit(APDU(ins: ISO7816.verify, p2: reference, le: .none)).status
        return answer == .authenticationBlocked ? 0 : answer.triesLeft
    }

    /// Sends a PIN, in the form of the application: PIV fills it up with FF to eight bytes, OpenPGP may hash it. What was
    /// verified ends with the session.
    func verify(_ pin: SharedSecret, _ channel: CardChannel) throws(CardError) -> StatusWord {
        guard !pin.value.isEmpty, pin.value.count <= (application == .piv ? 8 : 127) else { return .wrongLength }
        var data = try bytes(pin, channel)
        defer { Secret.wipe(&data) }
        channel.resetsOnRelease = true
        return try channel.transmit(APDU(ins: ISO7816.verify, p2: reference, data: data, le: .none)).status
    }

    private func bytes(_ pin: SharedSecret, _ channel: CardChannel) throws(CardError) -> [UInt8] {
        if application == .piv {
            return pin.value.copyBytes() + [UInt8](repeating: 0xFF, count: 8 - pin.value.count)
        }
        let tag = OpenPGPProtocol.Tag.kdf.rawValue
        let object = try channel.transmit(
            APDU(ins: OpenPGPProtocol.Instruction.getData, parameters: UInt16(truncatingIfNeeded: tag)))
        guard object.status == .ok else { return pin.value.copyBytes() }
        do throws(WireError) {
            guard let kdf = try OpenPGPKDF(decoding: object.data) else { return pin.value.copyBytes() }
            return kdf.derive(pin.value, .user).copyBytes()
        } catch { throw .malformed(error, during: "GET DATA F9") }
    }

    /// Whether an answer refuses the PIN; other answers are about something else.
    func isRefusal(_ status: StatusWord) -> Bool {
        status.triesLeft != nil || [.authenticationBlocked, .securityStatusNotSatisfied].contains(status)
    }
}
