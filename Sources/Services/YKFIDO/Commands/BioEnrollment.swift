// SPDX-License-Identifier: Apache-2.0

import YKProtocols
public import YKWire

/// Enrolls and lists fingerprints (authenticatorBioEnrollment, CTAP 2.2 §6.7, and its preview, command 40).
public struct BioEnrollment<Response>: CTAPCommand {
    private typealias Key = CTAPProtocol.BioEnrollment.Request

    /// The command byte, final or preview.
    public var code: CTAPCommandCode
    let request: BioEnrollmentRequest<Response>
    let auth: PINUVAuth?

    /// The name in the specification, including the subcommand.
    public var name: String { "bioEnrollment \(request.subcommand.name)" }

    /// The parameters.
    public var parameters: CBOR.Map? {
        var map = CBOR.Map(keys: [Key.modality: 1, Key.subCommand: request.subcommand.cbor])
        map[Key.subCommandParams] = request.parameters.map(CBOR.map)
        map.set(auth, at: Key.pinUvAuthParam, Key.pinUvAuthProtocol)
        return map
    }

    /// Reads the answer.
    public func decode(_ fields: CBOR.Fields) throws(WireError) -> Response { try request.read(fields) }
}

private typealias FingerprintKey = CTAPProtocol.BioEnrollment.Parameters

/// A bioEnrollment subcommand before authorization; the modality is always fingerprint.
struct BioEnrollmentRequest<Response> {
    let subcommand: CTAPProtocol.BioEnrollment.Subcommand
    var parameters: CBOR.Map?
    let read: (CBOR.Fields) throws(WireError) -> Response

    /// The bytes that pinUvAuthParam authenticates: the modality, the subcommand, its parameters (CTAP 2.2 §6.7.2).
    var authenticated: [UInt8] {
        [0x01, UInt8(truncatingIfNeeded: subcommand.rawValue)] + (parameters.map { CBOR.map($0).encoded } ?? [])
    }

    func command(_ code: CTAPCommandCode, _ auth: PINUVAuth?) -> BioEnrollment<Response> {
        BioEnrollment(code: code, request: self, auth: auth)
    }
}

extension BioEnrollmentRequest where Response == FingerprintSensor {
    /// Reads the sensor's properties (subcommand 7).
    static var sensor: Self { Self(subcommand: .getFingerprintSensorInfo, read: FingerprintSensor.init) }
}

extension BioEnrollmentRequest where Response == FingerprintSample {
    /// Begins an enrollment and captures the first sample (subcommand 1).
    static func begin(timeout: Duration?) -> Self {
        Self(
            subcommand: .enrollBegin,
            parameters: timeout.map { CBOR.Map(keys: [FingerprintKey.timeoutMilliseconds: .int($0.wholeMilliseconds)]) }
        ) {
            fields throws(WireError) in try FingerprintSample(fields, template: nil)
        }
    }
    /// Captures the next sample (subcommand 2).
    static func next(_ template: [UInt8], timeout: Duration?) -> Self {
        var parameters = CBOR.Map(keys: [FingerprintKey.templateId: .bytes(template)])
        parameters[FingerprintKey.timeoutMilliseconds] = timeout.map { .int($0.wholeMilliseconds) }
        return Self(subcommand: .enrollCaptureNextSample, parameters: parameters) {
            fields throws(WireError) in try FingerprintSample(fields, template: template)
        }
    }
}

extension BioEnrollmentRequest where Response == [Fingerprint] {
    /// Lists the enrolled fingerprints (subcommand 4).
    static var list: Self { Self(subcommand: .enumerateEnrollments, read: Fingerprint.list) }
}

extension BioEnrollmentRequest where Response == Void {
    /// Cancels an enrollment (subcommand 3).
    static var cancel: Self { Self(subcommand: .cancelCurrentEnrollment) { _ in } }
    /// Names a fingerprint (subcommand 5).
    static func rename(_ template: [UInt8], to name: String) -> Self {
        Self(
            subcommand: .setFriendlyName,
            parameters: CBOR.Map(keys: [
                FingerprintKey.templateId: .bytes(template), FingerprintKey.templateFriendlyName: .text(name),
            ])
        ) { _ in }
    }
    /// Removes a fingerprint (subcommand 6).
    static func remove(_ template: [UInt8]) -> Self {
        Self(
            subcommand: .removeEnrollment, parameters: CBOR.Map(keys: [FingerprintKey.templateId: .bytes(template)])
        ) { _ in }
    }
}
