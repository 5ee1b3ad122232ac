// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FIDOAuthenticator {
    /// authenticatorConfig (CTAP 2.2 §6.11).
    mutating func configure(_ fields: CBOR.Fields) throws(Refusal) {
        let (subcommand, parameters, proof) = try Self.read { () throws(WireError) in
            (try fields.required(1, .unsigned), try fields.optional(2, .map), try fields.optional(4, .bytes))
        }
        if isProtected || memory.alwaysUV {
            guard let proof else { throw .ctap(0x36) }
            let message =
                [UInt8](repeating: 0xFF, count: 32) + [0x0D, UInt8(truncatingIfNeeded: subcommand)]
                + (parameters.map { CBOR.map($0).encoded } ?? [])
            try check(proof: proof, try pinProtocol(fields, at: 3), over: message, permission: 0x20)
        }
        switch subcommand {
        case 1: memory.enterpriseAttestation = true
        case 2: memory.alwaysUV.toggle()
        case 3: try setPINRules(parameters ?? CBOR.Map())
        default: throw .ctap(0x3E)
        }
    }

    private mutating func setPINRules(_ rules: CBOR.Map) throws(Refusal) {
        let length = rules[1]?.unsigned ?? minPINLength
        guard length >= minPINLength, length <= 63 else { throw .ctap(0x37) }
        let readers = rules[2]?.array?.compactMap(\.text)
        if let readers, readers.count > 4 { throw .ctap(0x28) }
        let complexity = rules[4]?.bool
        if complexity != nil, ctap < .v23 { throw .ctap(0x02) }
        if rules[3]?.bool == true {
            guard memory.pinHash != nil else { throw .ctap(0x35) }
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
