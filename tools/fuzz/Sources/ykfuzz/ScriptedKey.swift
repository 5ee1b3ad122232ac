// SPDX-License-Identifier: Apache-2.0

import Dispatch
import YKFIDO
import YKTransport
import YKWire

/// A FIDO key that answers getInfo properly, anything else with the pieces of an input one after the other, and then
/// with status 00 alone.
final class ScriptedKey: FIDOLink {
    let environment = ServiceEnvironment(clock: FixedClock(1_760_000_000), timeout: .seconds(2))
    let profile = FIDOLinkProfile(carrier: .hid, hasCTAP2: true, hasU2F: true)
    let generation = 0
    private(set) var messages = 0
    private let info: [UInt8]
    private var replies: [[UInt8]]

    init(info: [UInt8], _ replies: [[UInt8]]) {
        self.info = info
        self.replies = replies.reversed()
    }

    func call(
        _ command: CTAPHID.Command, _ payload: [UInt8], deadline: Deadline, keepalive: (FIDOKeepalive) -> Void
    ) throws(FIDOLinkError) -> [UInt8] {
        messages += 1
        guard messages < 100 else { throw .device(.removed) }
        return payload == [0x04] ? info : replies.popLast() ?? [0x00]
    }

    func rest() {}
    func close() {}
}

/// getInfo of a key with everything, with a PIN or without.
func goodInfo(hasPIN: Bool, version: UInt64) -> [UInt8] {
    let map: CBOR = [
        1: ["FIDO_2_1", "U2F_V2"], 2: ["credProtect", "hmac-secret", "hmac-secret-mc"],
        3: .bytes(.init(repeating: 7, count: 16)),
        4: [
            "rk": true, "clientPin": .bool(hasPIN), "pinUvAuthToken": true, "credMgmt": true, "bioEnroll": false,
            "largeBlobs": true, "authnrCfg": true, "alwaysUv": false, "ep": false,
        ], 5: 1200, 6: [.unsigned(version)], 11: 4096,
    ]
    return [0x00] + map.encoded
}

/// Opens the FIDO application of a scripted key and does `work`, waiting for the end of it.
func withFIDO(
    _ replies: [[UInt8]], info: [UInt8], _ work: @escaping @Sendable (FIDOService) async throws -> Void
) {
    let done = DispatchSemaphore(value: 0)
    Task {
        let interaction = FIDOInteraction(pin: { _ in .init(.init(utf8: "12345")) })
        if let service = try? await FIDOService.open(ScriptedKey(info: info, replies), interaction: interaction) {
            try? await work(service)
        }
        done.signal()
    }
    done.wait()
}
