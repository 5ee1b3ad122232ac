// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKTransport
import YKWire

extension OpenPGPService {
    /// Resets the application to its initial state (TERMINATE DF, ACTIVATE FILE): keys, certificates, PINs and data are
    /// lost; a YubiKey keeps its attestation key.
    ///
    /// A card terminates at once if the admin PIN is verified, otherwise only when both PINs are blocked. They are blocked
    /// only after the card has shown that it has the command: by the status indicator of its historical bytes, which
    /// are no more than zeros on a YubiKey NEO, and by its answer to TERMINATE DF.
    ///
    /// - Throws: `unsupported` if the card cannot be terminated, in which case nothing was changed; `notBlocked` if wrong
    ///   PINs do not use up the retries; `resetUnfinished` for a refusal after the first change.
    public func reset() throws(OpenPGPError) {
        let present = try status()
        var canReset = present.hasLifeCycle
        if !canReset, let version = try firmware() {
            canReset = (FirmwareVersion(1, 0, 6)..<FirmwareVersion(4, 0, 0)).contains(version)
        }
        guard canReset else { throw .unsupported("a reset; nothing was changed") }
        if let refusal = try terminate() {
            if Self.unknown.contains(refusal) { throw .unsupported("a reset; nothing was changed") }
            guard Self.needsBlocking.contains(refusal) else { throw Self.refused(refusal) }
            try blockPINs(present)
            if let refusal = try terminate() {
                guard Self.needsBlocking.contains(refusal) else {
                    throw .resetUnfinished(isTerminated: false, .status(refusal, during: TerminateDF.name))
                }
                let left = try? pinStatus().retries
                throw .notBlocked(user: left?.user, admin: left?.admin)
            }
        }
        verified = []
        facts = nil
        do { try channel.send(ActivateFile()) } catch { throw .resetUnfinished(isTerminated: true, error) }
        _ = try? channel.select(.openPGP)
    }

    /// Terminates the application; returns the status word of a card that refuses it.
    private func terminate() throws(OpenPGPError) -> StatusWord? {
        do { try channel.send(TerminateDF()) } catch {
            guard case .status(let status, _) = error else { throw .card(error) }
            return status
        }
        return nil
    }

    private static func refused(_ status: StatusWord) -> OpenPGPError {
        .card(.status(status, during: TerminateDF.name))
    }

    private static let needsBlocking: [StatusWord] = [
        .securityStatusNotSatisfied, .conditionsNotSatisfied, .authenticationBlocked,
    ]
    private static let unknown: [StatusWord] = [
        .unknownInstruction, .unknownClass, .functionNotSupported, .wrongParameters, .incorrectP1P2,
    ]

    /// Uses up the retries of both PINs: sends as many wrong ones as the card reports retries, fewer if it reports
    /// earlier that a PIN is blocked.
    private func blockPINs(_ present: OpenPGPStatus) throws(OpenPGPError) {
        let isHashed = present.supportsKDF && (try? kdf()) != nil
        // As in GnuPG: a PIN that nobody uses, as long as a hash.
        let wrong = [UInt8](repeating: isHashed ? 0x40 : 0x00, count: isHashed ? 32 : 8)
        let retries = present.pins.retries
        for (reference, left) in [(Password.signing, retries.user), (Password.admin, retries.admin)] {
            for number in 0..<left {
                let reply: ResponseAPDU
                do {
                    reply = try channel.transmit(
                        APDU(ins: OpenPGPProtocol.Instruction.verify, p2: reference, data: wrong, le: .none))
                } catch { throw .card(error) }
                if reply.status == .authenticationBlocked || reply.status == StatusWord(0x63C0) { break }
                guard reply.status == .securityStatusNotSatisfied || reply.status.triesLeft != nil else {
                    let refusal = CardError.status(reply.status, during: VerifyPIN.name)
                    let isFirst = number == 0 && (reference == Password.signing || retries.user == 0)
                    throw isFirst ? .card(refusal) : .resetUnfinished(isTerminated: false, refusal)
                }
            }
        }
    }
}
