// SPDX-License-Identifier: Apache-2.0

public import YKWire

/// Enrols and lists fingerprints (authenticatorBioEnrollment, CTAP 2.2 §6.7, and its preview, command 40).
public struct BioEnrollment<Response>: CTAPCommand {
    /// The command byte, final or preview.
    public var code: CTAPCommandCode
    let subcommand: UInt64?
    let subcommandName: String
    let subcommandParameters: CBOR.Map?
    let auth: PINUVAuth?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// The name in the specification, including the subcommand.
    public var name: String { "bioEnrollment \(subcommandName)" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        guard let subcommand else { return [6: true] }
        var map: CBOR.Map = [1: 1, 2: .unsigned(subcommand)]
        map[3] = subcommandParameters.map(CBOR.map)
        map[4] = auth.map { .unsigned($0.version) }
        map[5] = auth.map { .bytes($0.parameter) }
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try read(fields) }
}

/// A bioEnrollment subcommand before authorisation; the modality is always fingerprint.
struct BioEnrollmentRequest<Response> {
    let subcommand: UInt64?
    let name: String
    var parameters: CBOR.Map?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// The bytes that pinUvAuthParam authenticates: the modality, the subcommand, its parameters (CTAP 2.2 §6.7.2).
    var authenticated: [UInt8] {
        [0x01, UInt8(truncatingIfNeeded: subcommand ?? 0)] + (parameters.map { CBOR.map($0).encoded } ?? [])
    }

    func command(_ code: CTAPCommandCode, _ auth: PINUVAuth?) -> BioEnrollment<Response> {
        BioEnrollment(
            code: code, subcommand: subcommand, subcommandName: name, subcommandParameters: parameters, auth: auth,
            read: read)
    }
}

extension BioEnrollmentRequest where Response == UInt64 {
    /// Reads the key's modality: 1 is fingerprint.
    static var modality: Self {
        Self(subcommand: nil, name: "getModality") { fields throws(WireError) in try fields.required(1, .unsigned) }
    }
}

extension BioEnrollmentRequest where Response == FingerprintSensor {
    /// Reads the sensor's properties (subcommand 7).
    static var sensor: Self { Self(subcommand: 7, name: "getFingerprintSensorInfo", read: FingerprintSensor.init) }
}

extension BioEnrollmentRequest where Response == FingerprintSample {
    /// Begins an enrolment and captures the first sample (subcommand 1).
    static func begin(timeout: Duration?) -> Self {
        Self(subcommand: 1, name: "enrollBegin", parameters: timeout.map { [3: .int($0.wholeMilliseconds)] }) {
            fields throws(WireError) in try FingerprintSample(fields, template: nil)
        }
    }
    /// Captures the next sample (subcommand 2).
    static func next(_ template: [UInt8], timeout: Duration?) -> Self {
        var parameters: CBOR.Map = [1: .bytes(template)]
        parameters[3] = timeout.map { .int($0.wholeMilliseconds) }
        return Self(subcommand: 2, name: "enrollCaptureNextSample", parameters: parameters) {
            fields throws(WireError) in try FingerprintSample(fields, template: template)
        }
    }
}

extension BioEnrollmentRequest where Response == [Fingerprint] {
    /// Lists the enrolled fingerprints (subcommand 4).
    static var list: Self { Self(subcommand: 4, name: "enumerateEnrollments", read: Fingerprint.list) }
}

extension BioEnrollmentRequest where Response == Void {
    /// Cancels an enrolment (subcommand 3).
    static var cancel: Self { Self(subcommand: 3, name: "cancelCurrentEnrollment") { _ in } }
    /// Names a fingerprint (subcommand 5).
    static func rename(_ template: [UInt8], to name: String) -> Self {
        Self(subcommand: 5, name: "setFriendlyName", parameters: [1: .bytes(template), 2: .text(name)]) { _ in }
    }
    /// Removes a fingerprint (subcommand 6).
    static func remove(_ template: [UInt8]) -> Self {
        Self(subcommand: 6, name: "removeEnrollment", parameters: [1: .bytes(template)]) { _ in }
    }
}
