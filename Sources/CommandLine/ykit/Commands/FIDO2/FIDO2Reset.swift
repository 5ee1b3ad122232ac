// SPDX-License-Identifier: Apache-2.0

import Arguments
import YKFIDO
import YKTransport
import YKWire

/// Deletes everything the FIDO application holds.
struct FIDO2Reset: Verb {
    static let about = About(
        "reset", "Delete all credentials, the PIN and the fingerprints.",
        discussion: """
            Every account that this key is registered with is lost, also U2F ones: register another key there first. \
            Most keys allow it only within some seconds after they were plugged in, and after a touch.
            """, members: ["reset"])

    @OptionGroup var confirmation: Confirmation

    @Flag(help: "Wait until the key is unplugged and plugged in again, and check that it is the same one.")
    var reinsert = false

    func answer(in world: World) async throws -> Answer {
        guard !reinsert || world.plan != nil || world.software == nil && world.replay == nil else {
            throw Explanation.usage("--reinsert is for a key that can be taken out")
        }
        let service = try await world.openFIDO()
        guard await service.hasCTAP2 else { throw FIDOError.unsupported("FIDO2") }
        let info = try await service.info()
        let profile = await service.profile
        let transports = info.transportsForReset
        let way = profile.carrier == .hid ? ["usb"] : ["usb", "nfc", "smart-card"]
        if !transports.isEmpty, !transports.contains(where: way.contains) {
            throw Explanation(
                "not-over-this-link", .policy,
                "this key is reset only over \(transports.map(\.printable).joined(separator: ", "))")
        }
        try confirmation.ask(
            typing: "reset", "this deletes all FIDO credentials of this key for good, and its PIN", in: world)
        if reinsert, world.plan == nil {
            await service.rest()
            return try await resetInsertedAnew(info, in: world)
        }
        return try await reset(service, info, in: world)
    }

    private func reset(_ service: FIDOService, _ info: AuthenticatorInfo, in world: World) async throws -> Answer {
        let touch = info.needsLongTouchForReset == true ? "touch and hold it until it is done" : "touch it"
        world.announce("the reset of this key; when it blinks, \(touch)")
        try await service.reset()
        return Answer("all FIDO credentials are deleted, no PIN is set", ["reset": true])
    }

    /// Resets the key after it is reinserted.
    private func resetInsertedAnew(_ info: AuthenticatorInfo, in world: World) async throws -> Answer {
        try await reset(try await world.reinsertedFIDO(), info, in: world)
    }
}
