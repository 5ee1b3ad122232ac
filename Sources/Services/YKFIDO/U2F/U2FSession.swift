// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKProtocols
import YKTransport
public import YKWire

/// Sends U2F messages over a FIDO link, and polls until the key is touched.
struct U2FSession {
    /// How long to wait before polling for a touch again.
    static let touchInterval = Duration.milliseconds(200)

    /// Answers to a foreign handle (§5.1): 6A80, or 6700 if the key's own handles have another length (CanoKey).
    static let foreignHandle: [StatusWord] = [.incorrectParameters, .wrongLength]

    let ctap: CTAPSession

    func version() throws(CTAPError) -> String {
        String(decoding: try data(of: try exchange(U2F.version), "VERSION"), as: UTF8.self)
    }

    func register(challengeHash: [UInt8], applicationHash: [UInt8]) throws(CTAPError) -> U2FRegistration {
        let command = U2F.register(challengeHash: challengeHash, applicationHash: applicationHash)
        let data = try data(of: try touched(command), "REGISTER")
        return try lift({ CTAPError.malformed($0, during: "U2F REGISTER") }) { () throws(WireError) in
            try U2FRegistration(decoding: data)
        }
    }

    func authenticate(
        _ control: U2F.Control, challengeHash: [UInt8], applicationHash: [UInt8], keyHandle: [UInt8]
    ) throws(CTAPError) -> U2FSignature {
        let command = U2F.authenticate(
            control, challengeHash: challengeHash, applicationHash: applicationHash, keyHandle: keyHandle)
        let data = try data(of: try touched(command), "AUTHENTICATE")
        return try lift({ CTAPError.malformed($0, during: "U2F AUTHENTICATE") }) { () throws(WireError) in
            try U2FSignature(decoding: data)
        }
    }

    /// Returns whether the key handle belongs to this key: 6985 means yes (§5.1, check-only).
    func knows(
        _ keyHandle: [UInt8], challengeHash: [UInt8], applicationHash: [UInt8]
    ) throws(CTAPError) -> Bool {
        guard keyHandle.count <= 255 else { return false }
        let response = try exchange(
            U2F.authenticate(
                .checkOnly, challengeHash: challengeHash, applicationHash: applicationHash, keyHandle: keyHandle))
        switch response.status {
        case .conditionsNotSatisfied, .ok: return true
        case let word where Self.foreignHandle.contains(word): return false
        default: throw .u2fStatus(response.status, during: "U2F AUTHENTICATE")
        }
    }

    func verifyPIN(_ pin: borrowing Secret) throws(CTAPError) {
        _ = try data(of: try exchange(U2F.verifyPIN(pin)), "VERIFY PIN")
    }

    func setPIN(_ pin: borrowing Secret, replacing old: borrowing Secret) throws(CTAPError) {
        _ = try data(of: try exchange(U2F.setPIN(pin, replacing: old)), "SET PIN")
    }

    func reset() throws(CTAPError) { _ = try data(of: try touched(U2F.reset), "RESET") }

    /// Polls until the key is touched: 6985 means not yet.
    func touched(_ command: APDU) throws(CTAPError) -> ResponseAPDU {
        let deadline = ctap.deadline()
        return try ctap.keepingTouchPrompt { () throws(CTAPError) in
            while true {
                let response = try exchange(command)
                guard response.status == .conditionsNotSatisfied else { return response }
                ctap.tell(.touchNeeded)
                if deadline.isCancelled { throw .link(.device(.cancelled)) }
                if deadline.isOver { throw .link(.notTouched) }
                ctap.environment.pause(Self.touchInterval, deadline)
            }
        }
    }

    func exchange(_ command: APDU) throws(CTAPError) -> ResponseAPDU {
        let message: [UInt8]
        do { message = try command.encoded(.extended) } catch {
            throw .tooLong(bytes: command.data.count, limit: 65535, during: "U2F")
        }
        let reply = try ctap.call(.msg, message)
        return try lift({ CTAPError.malformed($0, during: "U2F") }) { () throws(WireError) in
            try ResponseAPDU(decoding: reply)
        }
    }

    private func data(of response: ResponseAPDU, _ name: String) throws(CTAPError) -> [UInt8] {
        guard response.status == .ok else { throw .u2fStatus(response.status, during: "U2F \(name)") }
        return response.data
    }
}

extension FIDOSession {
    func u2f<Value>(_ body: (U2FSession) throws(CTAPError) -> Value) throws(FIDOError) -> Value {
        guard ctap.link.profile.hasU2F else { throw .unsupported("U2F_V2") }
        do { return try body(U2FSession(ctap: ctap)) } catch {
            if case .link(.notTouched) = error, ctap.link.profile.carrier == .card { throw .placementTimeout }
            throw FIDOError(error)
        }
    }
}

/// The messages of U2F (FIDO U2F Raw Message Formats 1.2).
public enum U2F {
    /// Whether AUTHENTICATE waits for a touch (§5.1).
    public struct Control: OpenSet {
        /// The control byte.
        public let rawValue: UInt8
        /// Wraps a control byte.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Signs after a touch.
        public static let enforcePresence = Control(rawValue: 0x03)
        /// Signs nothing; checks whether the key handle belongs to the key.
        public static let checkOnly = Control(rawValue: 0x07)
        /// Signs without a touch.
        public static let doNotEnforcePresence = Control(rawValue: 0x08)
    }

    /// Size of a challenge or application hash, in bytes.
    public static let hashSize = 32

    static func register(challengeHash: [UInt8], applicationHash: [UInt8]) -> APDU {
        APDU(ins: FIDOProtocol.Instruction.register, data: challengeHash + applicationHash)
    }

    static func authenticate(
        _ control: Control, challengeHash: [UInt8], applicationHash: [UInt8], keyHandle: [UInt8]
    ) -> APDU {
        APDU(
            ins: FIDOProtocol.Instruction.authenticate, p1: control.rawValue,
            data: challengeHash + applicationHash + [UInt8(truncatingIfNeeded: keyHandle.count)] + keyHandle)
    }

    static var version: APDU { APDU(ins: FIDOProtocol.Instruction.version) }

    // MARK: - The PIN of the YubiKey 4 FIPS

    /// The lengths of the U2F PIN of a YubiKey 4 FIPS, in bytes of UTF-8 (ykman 5.9.2).
    public static let pinLengths = 6...32

    static func verifyPIN(_ pin: borrowing Secret) -> APDU {
        APDU(ins: FIDOProtocol.Instruction.fipsVerifyPIN, data: pin.copyBytes())
    }

    /// The length of the new PIN in one byte, the old PIN if there is one, the new PIN.
    static func setPIN(_ pin: borrowing Secret, replacing old: borrowing Secret) -> APDU {
        APDU(
            ins: FIDOProtocol.Instruction.fipsSetPIN,
            data: [UInt8(clamping: pin.count)] + old.copyBytes() + pin.copyBytes())
    }

    static var reset: APDU { APDU(ins: FIDOProtocol.Instruction.fipsReset) }
}
