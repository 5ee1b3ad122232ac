// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

extension FIDOService {
    /// Reads the number of PIN retries (clientPIN getPINRetries).
    public func pinRetries() throws(FIDOError) -> PINRetries { try session.pinRetries() }

    /// Reads the number of PIN retries; `nil` if the key does not report it.
    ///
    /// - Throws: errors that leave the key unable to answer further commands (``FIDOError/endsSession``).
    public func pinRetriesIfTold() throws(FIDOError) -> PINRetries? { try session.pinRetriesIfTold() }

    /// Reads the number of PIN retries before a PIN is requested. A key that does not report it is not given a PIN.
    ///
    /// - Throws: `pinBlocked` and `pinNeedsPowerCycle` if no PIN can be tried.
    public func usablePINRetries() throws(FIDOError) -> PINRetries { try session.usablePINRetries() }

    /// Reads the number of user verification retries (clientPIN getUVRetries).
    public func uvRetries() throws(FIDOError) -> Int {
        try session.send(ClientPIN.GetUVRetries(try session.pinProtocol()))
    }

    /// Reads the number of user verification retries; `nil` if the key does not report it.
    public func uvRetriesIfTold() throws(FIDOError) -> Int? {
        try session.ifTold { () throws(FIDOError) in
            try session.send(ClientPIN.GetUVRetries(try session.pinProtocol()))
        }
    }

    /// Sets the first PIN (clientPIN setPIN).
    ///
    /// - Throws: `unsuitablePIN` before anything is sent, `pinAlreadySet`.
    public func setPIN(_ new: SharedSecret) throws(FIDOError) { try session.setPIN(new.value) }

    /// Changes the PIN (clientPIN changePIN).
    ///
    /// - Throws: `wrongPIN` with the remaining retries.
    public func changePIN(from old: SharedSecret, to new: SharedSecret) throws(FIDOError) {
        try session.changePIN(from: old.value, to: new.value)
    }

    /// Verifies a PIN and does nothing else; a wrong one uses up a retry. The token is kept for the next operation that
    /// it permits.
    public func verifyPIN(
        _ pin: SharedSecret, permissions: ClientPIN.Permissions = .getAssertion, rpID: String? = nil
    ) throws(FIDOError) {
        let needsRP = permissions.contains(.getAssertion) || permissions.contains(.makeCredential)
        let bound = needsRP ? rpID ?? "ykit.invalid" : rpID
        session.token = try session.token(for: pin.value, permissions, rpID: bound)
    }
}
