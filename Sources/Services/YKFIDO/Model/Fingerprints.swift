// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

private typealias Key = CTAPProtocol.BioEnrollment.Reply

/// The properties of a fingerprint sensor (CTAP 2.2 §6.7.3).
public struct FingerprintSensor: Hashable, Sendable {
    /// Whether the finger is swiped rather than placed on the sensor.
    public let isSwiped: Bool
    /// The number of good samples that an enrollment requires.
    public let samplesNeeded: UInt64?
    /// Maximum length of a fingerprint name, in bytes of UTF-8.
    public let maxNameLength: UInt64?

    init(_ fields: CBOR.Fields) throws(WireError) {
        isSwiped = try fields.required(Key.fingerprintKind, .unsigned) == 2
        samplesNeeded = try fields.optional(Key.maxCaptureSamplesRequiredForEnroll, .unsigned)
        maxNameLength = try fields.optional(Key.maxTemplateFriendlyName, .unsigned)
    }
}

/// One sample of an enrollment.
public struct FingerprintSample: Hashable, Sendable {
    /// The template identifier of the fingerprint being enrolled.
    public let template: [UInt8]
    /// Whether the sample was good, or what was wrong.
    public let feedback: Feedback
    /// The number of good samples still required.
    public let remaining: UInt64

    /// The sensor's feedback on a sample (CTAP 2.2 §6.7.4).
    public struct Feedback: OpenSet {
        /// The status.
        public let rawValue: UInt64
        /// Wraps a status.
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        /// Good.
        public static let good = Feedback(rawValue: 0)

        /// What the user can do about it, in a few words; `nil` for an unknown status.
        public var meaning: String? { Self.meanings[rawValue] }

        private static let meanings: [UInt64: String] = [
            0: "good", 1: "too high", 2: "too low", 3: "too far left", 4: "too far right", 5: "too fast",
            6: "too slow", 7: "poor quality", 8: "too skewed", 9: "too short", 10: "could not be merged",
            11: "already enrolled", 12: "database full", 13: "no finger", 14: "finger was not lifted",
        ]
    }

    init(_ fields: CBOR.Fields, template known: [UInt8]?) throws(WireError) {
        template = if let known { known } else { try fields.required(Key.templateId, .bytes) }
        feedback = Feedback(rawValue: try fields.required(Key.lastEnrollSampleStatus, .unsigned))
        remaining = try fields.required(Key.remainingSamples, .unsigned)
    }
}

/// An enrolled fingerprint.
public struct Fingerprint: Hashable, Sendable {
    /// Its identifier.
    public let template: [UInt8]
    /// Its name.
    public let name: String?

    package init(template: [UInt8], name: String?) { (self.template, self.name) = (template, name) }

    static func list(_ fields: CBOR.Fields) throws(WireError) -> [Fingerprint] {
        var list: [Fingerprint] = []
        for entry in try fields.required(Key.templateInfos, .array) {
            guard let template = entry.map?[CTAPProtocol.BioEnrollment.Parameters.templateId]?.bytes else {
                throw WireError(
                    .malformed, at: fields.place(of: 7)?.lowerBound ?? 0, "a fingerprint without identifier")
            }
            list.append(
                Fingerprint(
                    template: template,
                    name: entry.map?[CTAPProtocol.BioEnrollment.Parameters.templateFriendlyName]?.text))
        }
        return list
    }
}
