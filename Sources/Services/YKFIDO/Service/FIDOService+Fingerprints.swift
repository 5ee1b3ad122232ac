// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// What the fingerprint sensor is like (bioEnrollment getFingerprintSensorInfo).
    public func fingerprintSensor() throws(FIDOError) -> FingerprintSensor {
        try session.send(BioEnrollmentRequest.sensor.command(try session.bioEnrollmentCode(), nil))
    }

    /// The fingerprints that are enrolled (enumerateEnrollments).
    public func fingerprints() throws(FIDOError) -> [Fingerprint] {
        do { return try session.enrol(.list) } catch .ctap(.status(.invalidOption, _)) { return [] }
    }

    /// Begins an enrolment and takes the first sample (enrollBegin). `timeout` is in milliseconds.
    public func beginEnrollment(timeout: UInt64? = nil) throws(FIDOError) -> FingerprintSample {
        try session.enrol(.begin(timeout: timeout))
    }

    /// Takes the next sample of an enrolment (enrollCaptureNextSample). `timeout` is in milliseconds.
    public func nextSample(of template: [UInt8], timeout: UInt64? = nil) throws(FIDOError) -> FingerprintSample {
        let sample = try session.enrol(.next(template, timeout: timeout))
        if sample.remaining == 0 { session.infoDidChange() }
        return sample
    }

    /// Gives the enrolment that was begun up (cancelCurrentEnrollment).
    public func cancelEnrollment() throws(FIDOError) {
        try session.send(BioEnrollmentRequest.cancel.command(try session.bioEnrollmentCode(), nil))
    }

    /// Names a fingerprint (setFriendlyName).
    public func renameFingerprint(_ template: [UInt8], to name: String) throws(FIDOError) {
        try session.enrol(.rename(template, to: name))
    }

    /// Forgets a fingerprint (removeEnrollment).
    public func removeFingerprint(_ template: [UInt8]) throws(FIDOError) {
        try session.enrol(.remove(template))
        session.infoDidChange()
    }
}

extension FIDOSession {
    /// Sends an authorised subcommand.
    func enrol<Response>(_ request: BioEnrollmentRequest<Response>) throws(FIDOError) -> Response {
        let code = try bioEnrollmentCode()
        return try authorized(over: request.authenticated, .bioEnrollment) { auth throws(FIDOError) in
            try send(request.command(code, auth))
        }
    }

    func bioEnrollmentCode() throws(FIDOError) -> CTAPCommandCode {
        let info = try info()
        if info.option(.bioEnroll) != nil { return .bioEnrollment }
        if info.option(.userVerificationMgmtPreview) != nil { return .bioEnrollmentPreview }
        throw .unsupported("bioEnroll")
    }
}
