// SPDX-License-Identifier: Apache-2.0

public import YKCrypto

extension FIDOService {
    /// Asks how many wrong PINs are left (clientPIN getPINRetries).
    public func pinRetries() throws(FIDOError) -> PINRetries { try session.pinRetries() }

    /// Asks how many failed user verifications are left (clientPIN getUVRetries).
    public func uvRetries() throws(FIDOError) -> Int {
        try session.send(ClientPIN.GetUVRetries(try session.pinProtocol()))
    }

    /// Sets the first PIN (clientPIN setPIN). Throws `unsuitablePIN` before anything is sent, `pinAlreadySet`.
    public func setPIN(_ new: SharedSecret) throws(FIDOError) { try session.setPIN(new.value) }

    /// Changes the PIN (clientPIN changePIN). Throws `wrongPIN` with the tries that are left.
    public func changePIN(from old: SharedSecret, to new: SharedSecret) throws(FIDOError) {
        try session.changePIN(from: old.value, to: new.value)
    }

    /// Checks a PIN and does nothing else; a wrong one costs a try. The token is kept for the next operation that it
    /// permits.
    public func verifyPIN(
        _ pin: SharedSecret, permissions: ClientPIN.Permissions = .getAssertion, rpID: String? = nil
    ) throws(FIDOError) {
        let needsRP = permissions.contains(.getAssertion) || permissions.contains(.makeCredential)
        let bound = needsRP ? rpID ?? "ykit.invalid" : rpID
        session.token = try session.token(for: pin.value, permissions, rpID: bound)
    }
}
