// SPDX-License-Identifier: Apache-2.0

import YKProtocols
import YKWire

extension FIDOAuthenticator {
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
