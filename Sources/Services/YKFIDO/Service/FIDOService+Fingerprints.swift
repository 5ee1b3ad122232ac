// SPDX-License-Identifier: Apache-2.0

extension FIDOService {
    /// Reads the properties of the fingerprint sensor (bioEnrollment getFingerprintSensorInfo).
    public func fingerprintSensor() throws(FIDOError) -> FingerprintSensor {
        try session.send(BioEnrollmentRequest.sensor.command(try session.bioEnrollmentCode(), nil))
    }

    /// Lists the enrolled fingerprints (enumerateEnrollments).
    public func fingerprints() throws(FIDOError) -> [Fingerprint] {
        do { return try session.enrol(.list) } catch .ctap(.status(.invalidOption, _)) { return [] }
    }

    /// Begins an enrollment and captures the first sample (enrollBegin).
    ///
    /// - Parameter timeout: How long the key waits for a finger; `nil` for its default.
    public func beginEnrollment(timeout: Duration? = nil) throws(FIDOError) -> FingerprintSample {
        try session.enrol(.begin(timeout: timeout))
    }

    /// Captures the next sample of an enrollment (enrollCaptureNextSample).
    ///
    /// - Parameters:
    ///   - template: The identifier of the fingerprint.
    ///   - timeout: How long the key waits for a finger; `nil` for its default.
    public func nextSample(of template: [UInt8], timeout: Duration? = nil) throws(FIDOError) -> FingerprintSample {
        let sample = try session.enrol(.next(template, timeout: timeout))
        if sample.remaining == 0 { session.infoDidChange() }
        return sample
    }

    /// Cancels the current enrollment (cancelCurrentEnrollment).
    public func cancelEnrollment() throws(FIDOError) {
        try session.send(BioEnrollmentRequest.cancel.command(try session.bioEnrollmentCode(), nil))
    }

    /// Names a fingerprint (setFriendlyName).
    public func renameFingerprint(_ template: [UInt8], to name: String) throws(FIDOError) {
        try session.enrol(.rename(template, to: name))
    }

    /// Removes a fingerprint (removeEnrollment).
    public func removeFingerprint(_ template: [UInt8]) throws(FIDOError) {
        try session.enrol(.remove(template))
        session.infoDidChange()
    }
}

extension FIDOSession {
    /// Sends an authorized subcommand.
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
