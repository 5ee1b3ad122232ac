// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKTransport
import YKWire

/// A CTAP2 authenticator: messages in, answers out, whatever carries them.
struct FIDOAuthenticator {
    var memory: FIDOMemory
    var power: FIDOPower
    let profile: DeviceProfile
    /// Whether only the whole key can be reset, as another application is in use (YubiKey Bio).
    let isResetBlocked: Bool
    let world: VirtualWorld

    /// What the key can do.
    var features: FIDOFeatures { profile.fido }
    /// The version of CTAP that it speaks.
    var ctap: FIDOFeatures.Version { profile.fido.version }

    /// The shortest PIN, in code points: what was set, or what the series requires.
    var minPINLength: UInt64 { max(memory.minPINLength, profile.minFIDOPINLength) }
    /// Whether new PINs must satisfy the complexity policy: the application's own, or the whole key's.
    var requiresComplexPIN: Bool { memory.requiresComplexPIN || profile.requiresComplexPIN }

    /// The number of the model.
    var aaguid: [UInt8] { profile.model.aaguid }
    /// The longest message, in bytes.
    static let messageLimit = 1200

    init(_ key: VirtualKeyState, _ world: VirtualWorld) {
        memory = key.fido
        power = key.fidoPower
        profile = key.profile
        isResetBlocked = key.resetBlocked & VirtualCapability.fido2 != 0
        self.world = world
    }

    func store(in key: inout VirtualKeyState) {
        key.fido = memory
        key.fidoPower = power
    }

    /// Answers a message with what comes after the status 00; other statuses are thrown.
    mutating func answer(_ message: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let code = message.first else { throw .ctap(0x03) }
        guard message.count <= Self.messageLimit else { throw .ctap(0x39) }
        guard knows(code) else { throw .ctap(0x01) }
        let body = Array(message.dropFirst())
        if code != 0x08 { power.assertions = nil }
        switch code {
        case 0x01: return try makeCredential(try Self.fields(body)).encoded
        case 0x02: return try getAssertion(try Self.fields(body)).encoded
        case 0x04: return try info().encoded
        case 0x06: return try clientPIN(try Self.fields(body)).map(\.encoded) ?? []
        case 0x07: try reset()
        case 0x08: return try nextAssertion().encoded
        case 0x09, 0x40: return try bioEnrollment(try Self.fields(body)).map(\.encoded) ?? []
        case 0x0A, 0x41: return try credentialManagement(try Self.fields(body)).map(\.encoded) ?? []
        case 0x0B: try touch("selection")
        case 0x0C: return try largeBlobs(try Self.fields(body)).map(\.encoded) ?? []
        default: try configure(try Self.fields(body))
        }
        return []
    }

    /// The commands of the version. Keys of CTAP 2.1 take the preview's numbers too, which libfido2 1.12 sends them.
    private func knows(_ code: UInt8) -> Bool {
        switch code {
        case 0x01, 0x02, 0x04, 0x06, 0x07, 0x08: true
        case 0x41: ctap >= .v21Pre
        case 0x40: ctap >= .v21Pre && features.hasFingerprints
        case 0x09: ctap >= .v21 && features.hasFingerprints
        case 0x0A, 0x0B, 0x0C, 0x0D: ctap >= .v21
        default: false
        }
    }

    /// Within the window after power-up, if there is one, and with a touch (CTAP 2.2 §6.6).
    private mutating func reset() throws(Refusal) {
        guard !isResetBlocked else { throw .ctap(0x30) }
        if let window = features.resetWindow, power.since.duration(to: .now) > .seconds(window) { throw .ctap(0x30) }
        try touch("reset")
        memory = memory.afterReset
        power = FIDOPower()
    }

    /// Waits for a touch: 2F when nobody touches the key in its time. A card is held to the reader, that is enough.
    func touch(_ purpose: String) throws(Refusal) {
        guard !profile.model.isCard else { return }
        switch world.touch(Array(purpose.utf8)) {
        case .touched: return
        case .notTouched: throw .ctap(0x2F)
        case .pending: throw .waitingForTouch
        }
    }

    mutating func nextCount() -> UInt32 {
        memory.counter &+= 1
        return memory.counter
    }

    /// Reads a request's map; what is missing, of the wrong type or not CBOR ends with the status for it.
    static func fields(_ body: [UInt8]) throws(Refusal) -> CBOR.Fields {
        try read { () throws(WireError) in try CBOR.Fields(decoding: body, "the request", .strict) }
    }

    static func read<Value>(_ body: () throws(WireError) -> Value) throws(Refusal) -> Value {
        do { return try body() } catch {
            switch error.code {
            case .missing: throw .ctap(0x14)
            case .malformed: throw .ctap(0x11)
            default: throw .ctap(0x12)
            }
        }
    }
}
