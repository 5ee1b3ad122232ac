// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

/// A CTAP2 authenticator, independent of the transport.
struct FIDOAuthenticator {
    private typealias Command = CTAPProtocol.Command
    typealias Status = CTAPProtocol.Status

    var memory: FIDOMemory
    var power: FIDOPower
    let profile: DeviceProfile
    /// Whether only the whole key can be reset because another application is in use (YubiKey Bio).
    let isResetBlocked: Bool
    /// Whether the host reaches the key over NFC.
    let isOnReader: Bool
    let inputs: VirtualInputs
    /// The command being answered.
    private(set) var command: UInt8 = 0

    /// The features of the key.
    var features: FIDOFeatures { profile.fido }
    /// The CTAP version that the key supports.
    var ctap: FIDOFeatures.Version { profile.fido.version }

    /// Whether credentials store their large blobs themselves.
    var hasDirectLargeBlobs: Bool { ctap >= .v23 && features.hasDirectLargeBlobs }
    /// The minimum PIN length in code points: as configured, or as the series requires.
    var minPINLength: UInt64 { max(memory.minPINLength, profile.minFIDOPINLength) }
    /// Whether new PINs must satisfy the complexity policy of the application or of the whole key.
    var requiresComplexPIN: Bool { memory.requiresComplexPIN || profile.requiresComplexPIN }

    /// The AAGUID.
    var aaguid: [UInt8] { profile.model.aaguid }
    /// The maximum message size, in bytes.
    static let messageLimit = 1200

    init(_ key: VirtualKeyState, _ inputs: VirtualInputs, isOnReader: Bool = false) {
        self.isOnReader = isOnReader
        memory = key.fido
        power = key.fidoPower
        profile = key.profile
        isResetBlocked = key.resetBlocked & VirtualCapability.fido2 != 0
        self.inputs = inputs
    }

    func store(in key: inout VirtualKeyState) {
        key.fido = memory
        key.fidoPower = power
    }

    /// Returns the part of the answer after the status 00; throws any other status.
    mutating func answer(_ message: [UInt8]) throws(Refusal) -> [UInt8] {
        guard let code = message.first else { throw .ctap(Status.invalidLength) }
        guard message.count <= Self.messageLimit else { throw .ctap(Status.requestTooLarge) }
        guard knows(code) else { throw .ctap(Status.invalidCommand) }
        let body = Array(message.dropFirst())
        command = code
        // Any other command ends an enumeration (CTAP 2.2 §6).
        if code != Command.getNextAssertion { power.assertions = nil }
        if code != Command.credentialManagement, code != Command.credentialManagementPreview { power.listing = nil }
        switch code {
        case Command.makeCredential: return try makeCredential(try Self.fields(body)).encoded
        case Command.getAssertion: return try getAssertion(try Self.fields(body)).encoded
        case Command.getInfo: return try info().encoded
        case Command.clientPIN: return try clientPIN(try Self.fields(body)).map(\.encoded) ?? []
        case Command.reset: try reset()
        case Command.getNextAssertion: return try nextAssertion().encoded
        case Command.bioEnrollment, Command.bioEnrollmentPreview:
            return try bioEnrollment(try Self.fields(body)).map(\.encoded) ?? []
        case Command.credentialManagement, Command.credentialManagementPreview:
            return try credentialManagement(try Self.fields(body)).map(\.encoded) ?? []
        case Command.selection: try touch("selection")
        case Command.largeBlobs: return try largeBlobs(try Self.fields(body)).map(\.encoded) ?? []
        default: try configure(try Self.fields(body))
        }
        return []
    }

    /// Whether this version has a command. CTAP 2.1 keys also accept the preview's codes, which libfido2 1.12 sends
    /// them.
    private func knows(_ code: UInt8) -> Bool {
        switch code {
        case Command.makeCredential, Command.getAssertion, Command.getInfo, Command.clientPIN, Command.reset,
            Command.getNextAssertion:
            true
        case Command.credentialManagementPreview: ctap >= .v21Pre
        case Command.bioEnrollmentPreview: ctap >= .v21Pre && features.hasFingerprints
        case Command.bioEnrollment: ctap >= .v21 && features.hasFingerprints
        case Command.credentialManagement, Command.selection, Command.config: ctap >= .v21
        case Command.largeBlobs: ctap >= .v21 && !hasDirectLargeBlobs
        default: false
        }
    }

    /// Requires a touch and, if there is a reset window after power-up, that it has not passed (CTAP 2.2 §6.6).
    private mutating func reset() throws(Refusal) {
        guard !isResetBlocked else { throw .ctap(Status.notAllowed) }
        if let window = features.resetWindow, power.since.duration(to: .now) > .seconds(window) {
            throw .ctap(Status.notAllowed)
        }
        try touch("reset")
        memory = memory.afterReset
        power = FIDOPower()
    }

    /// Waits for a touch; 2F if the key is not touched in time. For a card, being held to the reader is enough.
    func touch(_ purpose: String) throws(Refusal) {
        guard !profile.model.isCard else { return }
        try inputs.requireTouch(Array(purpose.utf8), orElse: .ctap(Status.userActionTimeout))
    }

    mutating func nextCount() -> UInt32 {
        memory.counter &+= 1
        return memory.counter
    }

    /// Parses a request's map. Throws the matching status for missing or invalid CBOR.
    static func fields(_ body: [UInt8]) throws(Refusal) -> CBOR.Fields {
        try read { () throws(WireError) in try CBOR.Fields(decoding: body, "the request", .strict) }
    }

    static func read<Value>(_ body: () throws(WireError) -> Value) throws(Refusal) -> Value {
        do { return try body() } catch {
            switch error.code {
            case .missing: throw .ctap(Status.missingParameter)
            case .malformed: throw .ctap(Status.cborUnexpectedType)
            default: throw .ctap(Status.invalidCBOR)
            }
        }
    }

    private typealias Key = CTAPProtocol.Config.Request
    private typealias Parameter = CTAPProtocol.Config.Parameters
    private typealias Subcommand = CTAPProtocol.Config.Subcommand

    /// authenticatorConfig (CTAP 2.2 §6.11).
    mutating func configure(_ fields: CBOR.Fields) throws(Refusal) {
        let (subcommand, parameters, proof) = try Self.read { () throws(WireError) in
            (
                try fields.required(Key.subCommand, .unsigned), try fields.optional(Key.subCommandParams, .map),
                try fields.optional(Key.pinUvAuthParam, .bytes)
            )
        }
        if isProtected || memory.alwaysUV {
            guard let proof else { throw .ctap(Status.pinUvAuthTokenRequired) }
            let message =
                [UInt8](repeating: 0xFF, count: 32) + [
                    CTAPProtocol.Command.config, UInt8(truncatingIfNeeded: subcommand),
                ]
                + (parameters.map { CBOR.map($0).encoded } ?? [])
            try check(
                proof: proof, try pinProtocol(fields, at: Key.pinUvAuthProtocol.cbor), over: message, permission: 0x20)
        }
        switch Subcommand(rawValue: subcommand) {
        case .enableEnterpriseAttestation: memory.enterpriseAttestation = true
        case .toggleAlwaysUv: memory.alwaysUV.toggle()
        case .setMinPINLength: try setPINRules(parameters ?? CBOR.Map())
        case .enableLongTouchForReset where features.canRequireLongTouch: memory.needsLongTouch = true
        default: throw .ctap(Status.invalidSubcommand)
        }
    }

    private mutating func setPINRules(_ rules: CBOR.Map) throws(Refusal) {
        let (asked, readers, complexity, mustChange) = try Self.read { () throws(WireError) in
            (
                try rules.member(Parameter.newMinPINLength.cbor, \.unsigned),
                try rules.member(Parameter.minPinLengthRPIDs.cbor, \.texts),
                try rules.member(Parameter.pinComplexityPolicy.cbor, \.bool),
                try rules.member(Parameter.forceChangePin.cbor, \.bool)
            )
        }
        let length = asked ?? minPINLength
        guard length >= minPINLength, length <= 63 else { throw .ctap(Status.pinPolicyViolation) }
        if let readers, readers.count > 4 { throw .ctap(Status.keyStoreFull) }
        if complexity != nil, ctap < .v23 { throw .ctap(Status.invalidParameter) }
        if mustChange == true {
            guard memory.pinHash != nil else { throw .ctap(Status.pinNotSet) }
            memory.mustChangePIN = true
        }
        memory.minPINLength = length
        if let readers { memory.minPINReaders = readers }
        if memory.pinHash != nil, memory.pinLength < length { memory.mustChangePIN = true }
        if complexity == true, !requiresComplexPIN {
            memory.requiresComplexPIN = true
            // Only the hash of the PIN is stored, so it is unknown whether the PIN satisfies the policy.
            if memory.pinHash != nil { memory.mustChangePIN = true }
        }
        if memory.mustChangePIN { power.token = nil }
    }
}
