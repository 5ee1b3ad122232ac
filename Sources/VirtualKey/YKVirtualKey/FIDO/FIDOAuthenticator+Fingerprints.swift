// SPDX-License-Identifier: Apache-2.0

import YKProtocols
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
    private typealias Key = CTAPProtocol.BioEnrollment.Request
    private typealias Parameter = CTAPProtocol.BioEnrollment.Parameters
    private typealias Reply = CTAPProtocol.BioEnrollment.Reply
    private typealias Subcommand = CTAPProtocol.BioEnrollment.Subcommand

    /// bioEnrollment, including its preview (CTAP 2.2 §6.7).
    mutating func bioEnrollment(_ fields: CBOR.Fields) throws(Refusal) -> CBOR? {
        let (subcommand, parameters, asksModality) = try Self.read { () throws(WireError) in
            (
                try fields.optional(Key.subCommand, .unsigned), try fields.optional(Key.subCommandParams, .map),
                try fields.optional(Key.getModality, .bool)
            )
        }
        guard let subcommand else {
            guard asksModality == true else { throw .ctap(Status.missingParameter) }
            return .map(CBOR.Map(keys: [Reply.modality: 1]))
        }
        let known = Subcommand(rawValue: subcommand)
        switch known {
        case .cancelCurrentEnrollment:
            power.enrolment = nil
            return nil
        case .getFingerprintSensorInfo:
            return .map(
                CBOR.Map(keys: [
                    Reply.fingerprintKind: 1,
                    Reply.maxCaptureSamplesRequiredForEnroll: .int(Int64(VirtualFingerprint.samples)),
                    Reply.maxTemplateFriendlyName: .int(Int64(VirtualFingerprint.nameLimit)),
                ]))
        case .enrollBegin, .enrollCaptureNextSample, .enumerateEnrollments, .setFriendlyName, .removeEnrollment:
            try authoriseFingerprints(fields, subcommand, parameters)
        case nil: throw .ctap(Status.invalidSubcommand)
        }
        switch known {
        case .enrollBegin: return try beginEnrolment()
        case .enrollCaptureNextSample: return try nextSample(of: parameters?[Parameter.templateId]?.bytes)
        case .enumerateEnrollments: return try listFingerprints()
        case .setFriendlyName: try nameFingerprint(parameters)
        default: memory.fingerprints.remove(at: try fingerprint(parameters))
        }
        return nil
    }

    private mutating func authoriseFingerprints(
        _ fields: CBOR.Fields, _ subcommand: UInt64, _ parameters: CBOR.Map?
    ) throws(Refusal) {
        let (proof, modality) = try Self.read { () throws(WireError) in
            (try fields.optional(Key.pinUvAuthParam, .bytes), try fields.optional(Key.modality, .unsigned))
        }
        guard modality == 1 else { throw .ctap(modality == nil ? Status.missingParameter : Status.invalidParameter) }
        guard let proof else { throw .ctap(Status.pinUvAuthTokenRequired) }
        let message =
            [1, UInt8(truncatingIfNeeded: subcommand)] + (parameters.map { CBOR.map($0).encoded } ?? [])
        try check(
            proof: proof, try pinProtocol(fields, at: Key.pinUvAuthProtocol.cbor), over: message, permission: 0x08)
    }

    private mutating func beginEnrolment() throws(Refusal) -> CBOR {
        guard memory.fingerprints.count < VirtualFingerprint.limit else { throw .ctap(Status.fingerprintDatabaseFull) }
        power.enrolment = (try inputs.draw(4), VirtualFingerprint.samples)
        return try sample()
    }

    private mutating func nextSample(of id: [UInt8]?) throws(Refusal) -> CBOR {
        guard let id else { throw .ctap(Status.missingParameter) }
        guard power.enrolment?.id == id else { throw .ctap(Status.invalidParameter) }
        return try sample()
    }

    /// Waits for a finger and reports the sample's quality. Good samples count, and the last one enrolls the finger.
    private mutating func sample() throws(Refusal) -> CBOR {
        guard var enrolment = power.enrolment else { throw .ctap(Status.invalidParameter) }
        let quality: UInt8
        switch inputs.touch(Array("fingerprint".utf8)) {
        case .touched: quality = inputs.sample(VirtualFingerprint.samples - enrolment.left)
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
        return .map(
            CBOR.Map(keys: [
                Reply.templateId: .bytes(enrolment.id), Reply.lastEnrollSampleStatus: .unsigned(UInt64(quality)),
                Reply.remainingSamples: .int(Int64(enrolment.left)),
            ]))
    }

    private func listFingerprints() throws(Refusal) -> CBOR {
        guard !memory.fingerprints.isEmpty else { throw .ctap(Status.invalidOption) }
        return .map(
            CBOR.Map(keys: [
                Reply.templateInfos: .array(
                    memory.fingerprints.map {
                        .map(
                            CBOR.Map(keys: [
                                Parameter.templateId: .bytes($0.id), Parameter.templateFriendlyName: .text($0.name),
                            ]))
                    })
            ]))
    }

    private mutating func nameFingerprint(_ parameters: CBOR.Map?) throws(Refusal) {
        let index = try fingerprint(parameters)
        guard let name = parameters?[Parameter.templateFriendlyName]?.text else { throw .ctap(Status.missingParameter) }
        guard name.utf8.count <= VirtualFingerprint.nameLimit else { throw .ctap(Status.invalidLength) }
        memory.fingerprints[index].name = name
    }

    private func fingerprint(_ parameters: CBOR.Map?) throws(Refusal) -> Int {
        guard let id = parameters?[Parameter.templateId]?.bytes else { throw .ctap(Status.missingParameter) }
        guard let index = memory.fingerprints.firstIndex(where: { $0.id == id }) else {
            throw .ctap(Status.invalidOption)
        }
        return index
    }

    /// Verifies the user by fingerprint (CTAP 2.2 §6.5.3.1).
    ///
    /// - Parameters:
    ///   - wrong: The status for a wrong finger: 3F for a token (§6.5.5.7.3), 27 for a ceremony (§6.1.2, §6.2.2).
    ///   - blocked: The status when no retries are left: 3C for a token, 32 for a ceremony.
    mutating func verifyFinger(wrong: UInt8, blocked: UInt8) throws(Refusal) {
        guard memory.verificationsLeft > 0 else { throw .ctap(blocked) }
        switch inputs.verify() {
        case .verified: memory.verificationsLeft = FIDOMemory.allVerifications
        case .notTouched: throw .ctap(Status.userActionTimeout)
        case .pending: throw .waitingForTouch
        case .wrong:
            memory.verificationsLeft -= 1
            throw .ctap(memory.verificationsLeft == 0 ? blocked : wrong)
        }
    }
}
