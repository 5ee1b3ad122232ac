// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO

extension ArculusCard {
    /// A card's capabilities and remaining PIN retries.
    public struct State: Sendable {
        /// The model.
        public let model: ArculusModel
        /// Its capabilities (getInfo).
        public let info: AuthenticatorInfo
        /// The remaining PIN retries; `nil` without a PIN, and if the card does not report them.
        public let retries: PINRetries?
    }

    /// Waits for a card and reads its state; needs no PIN.
    public func state() async throws(ArculusError) -> State {
        try await session { service throws(ArculusError) in
            try await during(.opening) { () throws(FIDOError) in
                let info = try await service.info()
                return State(
                    model: ArculusModel(rawValue: info.aaguid), info: info,
                    retries: info.hasPIN ? try await service.pinRetriesIfTold() : nil)
            }
        }
    }

    /// Erases all credentials and the PIN, and sets a new PIN of six digits or more.
    public func reset(to newPIN: SharedSecret) async throws(ArculusError) {
        try ArculusPIN.checkNew(newPIN)
        var isReset = false
        try await session { service throws(ArculusError) in
            try await Self.reset(service, to: newPIN, &isReset)
        }
    }

    /// Resets a card unless that was done already, and sets its PIN unless it was set before the card was lost.
    static func reset(
        _ service: FIDOService, to newPIN: SharedSecret, _ isReset: inout Bool
    ) async throws(ArculusError) {
        if !isReset {
            try await during(.resetting) { () throws(FIDOError) in try await service.reset() }
            isReset = true
        }
        let info = try await during(.opening) { () throws(FIDOError) in try await service.info() }
        try await during(.settingPIN) { () throws(FIDOError) in
            // An existing PIN can only be ours; verifying it also shows that this is the same card.
            if info.hasPIN { try await service.verifyPIN(newPIN) } else { try await service.setPIN(newPIN) }
        }
    }

    /// Changes the PIN and keeps the credentials. `old` is requested once, with the remaining retries; a wrong one uses
    /// up a retry.
    ///
    /// - Throws: `changeInDoubt` if the card was lost during the change.
    public func changePIN(
        from old: (PINRetries) -> SharedSecret?, to newPIN: SharedSecret
    ) async throws(ArculusError) {
        try ArculusPIN.checkNew(newPIN)
        try await session { service throws(ArculusError) in
            let retries = try await during(.settingPIN) { () throws(FIDOError) in
                guard try await service.info().hasPIN else { throw .pinNotSet }
                return try await service.usablePINRetries()
            }
            guard let old = old(retries), !old.value.isEmpty else { throw ArculusError(.pinNeeded, .settingPIN) }
            do throws(ArculusError) {
                try await during(.settingPIN) { () throws(FIDOError) in
                    try await service.changePIN(from: old, to: newPIN)
                }
            } catch {
                throw error.isTagLost ? .changeInDoubt : error
            }
        }
    }
}
