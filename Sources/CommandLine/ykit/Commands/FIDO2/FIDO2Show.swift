// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// Shows what the FIDO application reports about itself.
struct FIDO2Show: Verb {
    static let configuration = CommandConfiguration(
        commandName: "info", abstract: "Show the FIDO capabilities of the key and the state of its PIN.",
        discussion: "Needs neither PIN nor touch. The members of the JSON answer are named as in authenticatorGetInfo.")
    static let members = ["link", "device", "ctap2", "u2f"] + AuthenticatorReport.names + ["pinRetries", "uvRetries"]

    @OptionGroup(title: "Global Options")
    var global: GlobalOptions

    func answer(in world: World) async throws -> Answer {
        let service = try await world.openFIDO()
        let profile = await service.profile
        var answer = Answer()
        answer.members["link"] = profile.carrier == .hid ? "hid" : "card"
        answer.members["device"] = profile.deviceVersion.map { .string($0.description) }
        answer.members["u2f"] = .bool(profile.hasU2F)
        guard await service.hasCTAP2 else {
            answer.members["ctap2"] = false
            answer.lines = ["this key supports only U2F: ykit u2f --help"]
            return answer
        }
        let report = AuthenticatorReport(
            info: try await service.info(), profile: profile, pin: try await Self.retries(service),
            uv: try await Self.uvRetries(service))
        answer.members["ctap2"] = true
        for (name, value) in report.members { answer.members[name] = value }
        answer.lines = report.lines
        return answer
    }

    private static func retries(_ service: FIDOService) async throws -> PINRetries? {
        guard try await service.info().hasPIN else { return nil }
        do { return try await service.pinRetries() } catch FIDOError.ctap(.link(let error)) {
            // A recording of another tool may lack this command.
            guard case .replay? = error.link else { throw FIDOError.ctap(.link(error)) }
            return nil
        }
    }

    private static func uvRetries(_ service: FIDOService) async throws -> Int? {
        guard try await service.info().hasBuiltInUV else { return nil }
        return try? await service.uvRetries()
    }
}
