// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKFIDO

extension ArculusCard {
    /// What a card says of itself, and how many PIN tries are left.
    public struct State: Sendable {
        /// The model.
        public let model: ArculusModel
        /// What it can do (getInfo).
        public let info: AuthenticatorInfo
        /// Wrong PINs that are left; `nil` without a PIN.
        public let retries: PINRetries?
    }

    /// Waits for a card and asks what it is; no PIN is needed.
    public func state() async throws(ArculusError) -> State {
        try await session { service throws(ArculusError) in
            try await during(.opening) { () throws(FIDOError) in
                let info = try await service.info()
                return State(
                    model: ArculusModel(rawValue: info.aaguid), info: info,
                    retries: info.hasPIN ? try await service.pinRetries() : nil)
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

    /// Resets a card unless that was done already, and sets its PIN unless that got through before the card was lost.
    static func reset(
        _ service: FIDOService, to newPIN: SharedSecret, _ isReset: inout Bool
    ) async throws(ArculusError) {
        if !isReset {
            try await during(.resetting) { () throws(FIDOError) in try await service.reset() }
            isReset = true
        }
        let info = try await during(.opening) { () throws(FIDOError) in try await service.info() }
        try await during(.settingPIN) { () throws(FIDOError) in
            // The PIN that is there can only be ours; that it is shows that this is the same card, too.
            if info.hasPIN { try await service.verifyPIN(newPIN) } else { try await service.setPIN(newPIN) }
        }
    }

    /// Changes the PIN and keeps the credentials. `old` is asked once, with the tries that are left; a wrong one costs
    /// a try.
    ///
    /// Throws `changeInDoubt` when the card was lost while it did it.
    public func changePIN(
        from old: (PINRetries) -> SharedSecret?, to newPIN: SharedSecret
    ) async throws(ArculusError) {
        try ArculusPIN.checkNew(newPIN)
        try await session { service throws(ArculusError) in
            let retries = try await during(.settingPIN) { () throws(FIDOError) in
                guard try await service.info().hasPIN else { throw .pinNotSet }
                let retries = try await service.pinRetries()
                guard retries.count > 0 else { throw .pinBlocked }
                guard !retries.needsPowerCycle else { throw .pinNeedsPowerCycle }
                return retries
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
