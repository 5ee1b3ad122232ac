// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKWire

/// An enrolled fingerprint.
package struct VirtualFingerprint: Hashable, Sendable {
    /// The template identifier.
    package var id: [UInt8]
    /// The name given by the user; may be empty.
    package var name: String

    /// Creates an enrolled fingerprint.
    package init(id: [UInt8], name: String) {
        self.id = id
        self.name = name
    }

    /// The number of good samples needed to enroll a finger.
    static let samples = 4
    /// The maximum number of enrolled fingers.
    static let limit = 5
    /// The maximum length of a name, in bytes.
    static let nameLimit = 15
}

extension FIDOAuthenticator {
    /// bioEnrollment, including its preview (CTAP 2.2 §6.7).
    mutating func bioEnrollment(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let (subcommand, parameters, asksModality) = try Self.read { () throws(WireError) in
            (try fields.optional(2, .unsigned), try fields.optional(3, .map), try fields.optional(6, .bool))
        }
        guard let subcommand else {
            guard asksModality == true else { throw .ctap(0x14) }
            return [1: 1]
        }
        switch subcommand {
        case 3:
            power.enrolment = nil
            return nil
        case 7: return [2: 1, 3: .int(Int64(VirtualFingerprint.samples)), 8: .int(Int64(VirtualFingerprint.nameLimit))]
        case 1, 2, 4, 5, 6: try authoriseFingerprints(fields, subcommand, parameters)
        default: throw .ctap(0x3E)
        }
        switch subcommand {
        case 1: return try beginEnrolment()
        case 2: return try nextSample(of: parameters?[1]?.bytes)
        case 4: return try listFingerprints()
        case 5: try nameFingerprint(parameters)
        default: memory.fingerprints.remove(at: try fingerprint(parameters))
        }
        return nil
    }

    private mutating func authoriseFingerprints(
        _ fields: CBOR.Fields, _ subcommand: UInt64, _ parameters: CBOR.Map?
    ) throws(Refusal) {
        let (proof, modality) = try Self.read { () throws(WireError) in
            (try fields.optional(5, .bytes), try fields.optional(1, .unsigned))
        }
        guard modality == 1 else { throw .ctap(modality == nil ? 0x14 : 0x02) }
        guard let proof else { throw .ctap(0x36) }
        let message =
            [1, UInt8(truncatingIfNeeded: subcommand)] + (parameters.map { CBOR.map($0).encoded } ?? [])
        try check(proof: proof, try pinProtocol(fields, at: 4), over: message, permission: 0x08)
    }

    private mutating func beginEnrolment() throws(Refusal) -> CBOR {
        guard memory.fingerprints.count < VirtualFingerprint.limit else { throw .ctap(0x17) }
        power.enrolment = (try world.draw(4), VirtualFingerprint.samples)
        return try sample()
    }

    private mutating func nextSample(of id: [UInt8]?) throws(Refusal) -> CBOR {
        guard let id else { throw .ctap(0x14) }
        guard power.enrolment?.id == id else { throw .ctap(0x02) }
        return try sample()
    }

    /// Waits for a finger and reports the sample's quality. Good samples count, and the last one enrolls the finger.
    private mutating func sample() throws(Refusal) -> CBOR {
        guard var enrolment = power.enrolment else { throw .ctap(0x02) }
        let quality: UInt8
        switch world.touch(Array("fingerprint".utf8)) {
        case .touched: quality = world.sample(VirtualFingerprint.samples - enrolment.left)
        case .notTouched: quality = 0x0D
        case .pending: throw .waitingForTouch
        }
        if quality == 0 { enrolment.left -= 1 }
        power.enrolment = enrolment
        if enrolment.left == 0 {
            memory.fingerprints.append(VirtualFingerprint(id: enrolment.id, name: ""))
            memory.verificationsLeft = FIDOMemory.allVerifications
            power.enrolment = nil
        }
        return [4: .bytes(enrolment.id), 5: .unsigned(UInt64(quality)), 6: .int(Int64(enrolment.left))]
    }

    private func listFingerprints() throws(Refusal) -> CBOR {
        guard !memory.fingerprints.isEmpty else { throw .ctap(0x2C) }
        return [7: .array(memory.fingerprints.map { [1: .bytes($0.id), 2: .text($0.name)] })]
    }

    private mutating func nameFingerprint(_ parameters: CBOR.Map?) throws(Refusal) {
        let index = try fingerprint(parameters)
        guard let name = parameters?[2]?.text else { throw .ctap(0x14) }
        guard name.utf8.count <= VirtualFingerprint.nameLimit else { throw .ctap(0x03) }
        memory.fingerprints[index].name = name
    }

    private func fingerprint(_ parameters: CBOR.Map?) throws(Refusal) -> Int {
        guard let id = parameters?[1]?.bytes else { throw .ctap(0x14) }
        guard let index = memory.fingerprints.firstIndex(where: { $0.id == id }) else { throw .ctap(0x2C) }
        return index
    }

    /// Verifies the user by fingerprint (CTAP 2.2 §6.5.3.1): 3F for a wrong finger, 3C when no retries are left.
    mutating func verifyFinger() throws(Refusal) {
        guard memory.verificationsLeft > 0 else { throw .ctap(0x3C) }
        switch world.verify() {
        case .verified: memory.verificationsLeft = FIDOMemory.allVerifications
        case .notTouched: throw .ctap(0x3A)
        case .pending: throw .waitingForTouch
        case .wrong:
            memory.verificationsLeft -= 1
            throw .ctap(memory.verificationsLeft == 0 ? 0x3C : 0x3F)
        }
    }
}
