// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKHardware
import YKPIV
import YKTransport

extension World {
    /// The timeout for generating an RSA key, unless the user sets one.
    static let generationPatience = Duration.seconds(300)

    /// Opens the PIV application of the selected key, with a longer timeout for key generation.
    func openPIV(isPatient: Bool = false) async throws -> PIVService {
        try await PIVService.open(try connect(isPatient ? Self.generationPatience : nil))
    }

    /// Returns a PIN, given or asked for; reads the remaining retries before a prompt.
    func pivPIN(_ options: PINOptions, of service: PIVService, for reason: String) async throws -> PIVPIN {
        try await code(.pin, options.source, of: service, for: reason)
    }

    /// Returns the PUK in the same way.
    func pivPUK(_ options: PUKOptions, of service: PIVService, for reason: String) async throws -> PIVPIN {
        try await code(.puk, options.source, of: service, for: reason)
    }

    private func code(
        _ reference: PIVReference, _ source: SecretInput.Source, of service: PIVService, for reason: String
    ) async throws -> PIVPIN {
        if plan != nil { return try PIVPIN(Secret(utf8: "planning")) }
        switch try SecretInput.given(source, terminal) {
        case .secret(let secret): return try PIVPIN(secret)
        case .none: break
        }
        let name = reference == .pin ? "PIN" : "PUK"
        let tries = try await service.tries(of: reference)
        if tries?.isBlocked == true { throw PIVError.blocked(reference) }
        let prompt = try Prompt(orElse: source.hint)
        prompt.tell("to \(reason), the key asks for its \(name)" + Self.words(tries))
        return try PIVPIN(try prompt.neededSecret(name, "an empty \(name) is never sent"))
    }

    private static func words(_ tries: PINMetadata?) -> String {
        guard let tries else { return "" }
        return "; " + (tries.triesLeft == 1 ? "the last try" : "\(tries.triesLeft) tries left")
            + (tries.isDefault == true ? ", it is still the default" : "")
    }
}

extension SecretInput.Source {
    /// Returns a new PIN or PUK, given or asked for twice.
    func newCode(_ name: String, _ world: World) throws -> PIVPIN {
        if world.plan != nil { return try PIVPIN(Secret(utf8: "planning")) }
        switch try SecretInput.given(self, world.terminal) {
        case .secret(let secret): return try PIVPIN(secret)
        case .none:
            let prompt = try Prompt(orElse: hint)
            prompt.tell("a \(name) has 6 to 8 characters")
            return try PIVPIN(try prompt.newSecret("new \(name)", "an empty \(name) is not a \(name)"))
        }
    }
}
