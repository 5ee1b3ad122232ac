// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKFIDO

extension World {
    /// Returns the current PIN, given or asked for; the prompt shows the remaining retries.
    func pin(_ options: PINOptions, of service: FIDOService, for reason: String) async throws -> SharedSecret {
        if plan != nil { return SharedSecret(Secret(utf8: "plan")) }
        let retries = try await service.pinRetries()
        guard retries.count > 0 else { throw FIDOError.pinBlocked }
        guard !retries.needsPowerCycle else { throw FIDOError.pinNeedsPowerCycle }
        return try PINSource(options.source, reason: reason, terminal).read(retries)
    }
}

extension NewPINOptions {
    /// Returns the new PIN, given or asked for twice; the prompt states the key's rules.
    func read(_ info: AuthenticatorInfo, _ world: World) throws -> SharedSecret {
        switch try SecretInput.given(source, world.terminal) {
        case .secret(let secret): return SharedSecret(secret)
        case .none:
            let prompt = try Prompt(orElse: source.hint)
            prompt.tell("a PIN has at least \(info.minPINLength) characters and at most \(info.maxPINLength) bytes")
            return SharedSecret(try prompt.newSecret("new PIN", "an empty PIN is not a PIN"))
        }
    }
}
