// SPDX-License-Identifier: Apache-2.0

import Testing
import YKFIDO
import YKHardware
import YKProtocols
import YKTestSupport
import YKTransport
import YKVirtualKey
import YKWire

@testable import YKBridge

/// Faults on the card's side.
@Suite(.serialized) struct FaultTests {
    private static let faults = [
        "remove", "reset", "truncate 0", "truncate 1", "truncate 3", "garbage 00",
        "garbage ffffffffffffffffffffffffffffff",
        "garbage 9000", "garbage 007f9000", "garbage 6100", "garbage 9100", "garbage 6985", "garbage 6982",
        "garbage 6f00",
        "garbage 6d00", "garbage 6700", "garbage 2f9000", "garbage 3b9000", "garbage 319000", "garbage 00a09000",
    ]

    @Test("400 faults: no message hangs, no try of the PIN is lost, nothing is signed without presence")
    func many() async throws {
        let fresh = try VirtualKey.new()
        let fido = try await FIDOService.open(card: CardChannel(link: fresh.link(), environment: .instant))
        try await fido.setPIN(secret("123456"))
        await fido.close()
        let state = fresh.state
        for round in 0..<400 {
            let fault = Self.faults[round % Self.faults.count]
            let place = 1 + round / Self.faults.count % 10
            let desk = Desk()
            let key = VirtualKey(state)
            // Every fourth time the fault is on the card that comes back, too.
            let plan = try FaultPlan(parsing: "at \(place): \(fault)")
            desk.lay(key, faults: plan)
            let channel = try desk.channel()
            var laid = 1
            var spent = 0
            for message in [
                CTAP.info, CTAP.pin(1), CTAP.pin(2), CTAP.wrongPIN, CTAP.register(), CTAP.signIn(up: false),
            ] {
                let start = desk.now
                let before = key.state.fido.pinRetries
                let answer = try desk.ask(on: channel, message) { step in
                    guard step == 20, round % 2 == 0, desk.authenticator.shown != nil else { return }
                    desk.lift()
                    laid += 1
                    desk.lay(key, faults: round % 4 == 0 ? plan : FaultPlan())
                }
                #expect(answer != nil, "\(fault) at \(place)")
                #expect(start.duration(to: desk.now) <= .seconds(100), "\(fault) at \(place)")
                let lost = before - key.state.fido.pinRetries
                spent += lost
                #expect(lost == 0 || message == CTAP.wrongPIN && lost == 1, "\(fault) at \(place)")
            }
            // The program's wrong PIN is counted at most once, however often the card leaves.
            #expect(spent <= 1, "\(fault) at \(place)")
            #expect(key.state.fido.counter <= UInt32(laid) * 2, "\(fault) at \(place)")
        }
    }
}
