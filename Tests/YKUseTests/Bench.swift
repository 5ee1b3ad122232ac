// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKCrypto
import YKFIDO
import YKInteraction
import YKPIV
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

/// A virtual key that is touched at once.
struct Bench {
    let key: VirtualKey
    private let environment: ServiceEnvironment

    init(_ version: FirmwareVersion = FirmwareVersion(5, 7, 1), serial: UInt32 = 4711) throws {
        let random = SystemRandom()
        key = try VirtualKey.new(
            version, serial: serial, random: random, inputs: VirtualInputs(random: random, touch: { _ in .touched }))
        environment = ServiceEnvironment()
    }

    /// A YubiKey Bio with one finger enrolled, touched by a finger.
    init(finger: VirtualInputs.Verification) throws {
        var state = try VirtualKeyState.new(DeviceProfile(model: .yubiKeyBio, serial: 4711))
        state.fido.fingerprints = [VirtualFingerprint(id: [1], name: "")]
        var inputs = VirtualInputs()
        inputs.verify = { finger }
        key = VirtualKey(state, inputs: inputs)
        environment = ServiceEnvironment()
    }

    func piv() async throws -> PIVService {
        try await PIVService.open(CardChannel(link: key.link(), environment: environment))
    }

    func fido(_ interaction: FIDOInteraction = FIDOInteraction()) async throws -> FIDOService {
        try await FIDOService.open(
            card: CardChannel(link: key.link(), environment: environment), interaction: interaction)
    }

    /// A key in a slot, made with the default management key.
    func makeKey(_ slot: PIVSlot, pin: PINPolicy = .once, touch: TouchPolicy = .never) async throws {
        let service = try await piv()
        try await service.authenticate(with: .defaultKey())
        _ = try await service.generateKey(slot, .p256, policies: KeyPolicies(pin: pin, touch: touch))
        await service.close()
    }
}
