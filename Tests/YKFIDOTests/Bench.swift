// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import Testing
import YKCapture
import YKCrypto
import YKFIDO
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key, a service on it, and the answers of its user.
struct Bench {
    let key: VirtualKey
    let pins: PINs

    /// The PINs that a user gives, and what was said before each.
    final class PINs: Sendable {
        private let state: Mutex<(pin: String?, requests: [PINRequest])>
        init(_ pin: String?) { state = Mutex((pin, [])) }
        var requests: [PINRequest] { state.withLock { $0.requests } }
        func type(_ pin: String?) { state.withLock { $0.pin = pin } }
        func give(_ request: PINRequest) -> SharedSecret? {
            state.withLock { state in
                state.requests.append(request)
                return state.pin.map { SharedSecret(Secret(utf8: $0)) }
            }
        }
    }

    init(key: VirtualKey, pins: PINs) {
        self.key = key
        self.pins = pins
    }

    init(
        pin: String? = nil, inputs: VirtualInputs = VirtualInputs(), version: FirmwareVersion = FirmwareVersion(5, 7, 1)
    ) throws {
        key = try VirtualKey.new(version, inputs: inputs)
        pins = PINs(pin)
    }

    func open(form: APDU.Form? = nil, _ environment: ServiceEnvironment = .instant) async throws -> FIDOService {
        let channel = CardChannel(link: key.link(), environment: environment)
        if let form { channel.form = form }
        let pins = pins
        return try await FIDOService.open(card: channel, interaction: FIDOInteraction(pin: { pins.give($0) }))
    }
}

let hash = [UInt8](repeating: 0x5A, count: 32)

func registration(_ rp: String = "example.com", user: UInt8 = 1) -> RegistrationRequest {
    RegistrationRequest(
        clientDataHash: hash, relyingParty: RelyingParty(id: rp), user: FIDOUser(id: [user], name: "alice"))
}

extension Recordings {
    static let all = [
        "canokey-info", "canokey-short-getinfo", "canokey-make-credential", "canokey-assert",
        "canokey-u2f-register-authenticate",
    ]

    static func open(_ name: String) async throws -> FIDOService {
        let replay = CaptureReplay(try capture("fido/\(name)"), mode: .lookup)
        let channel = CardChannel(link: replay.link(), environment: replay.replaying(.instant))
        return try await FIDOService.open(card: channel)
    }
}
