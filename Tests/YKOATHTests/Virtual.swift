// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKOATH
import YKTestSupport
import YKTransport
import YKVirtualKey

/// Virtual keys to test against.
enum Virtual {
    static func empty(
        _ version: FirmwareVersion = FirmwareVersion(5, 7, 1), inputs: VirtualInputs = VirtualInputs()
    ) throws -> VirtualKey {
        try VirtualKey.new(version, random: CountingRandom(), inputs: inputs)
    }

    static func open(_ key: VirtualKey, at time: Int64 = 59) async throws -> OATHService {
        try await OATHService.open(CardChannel(link: key.link(), environment: environment(at: time)))
    }

    static func open(_ key: VirtualKey, plan: FaultPlan, at time: Int64 = 59) async throws(OATHError) -> OATHService {
        let link = FaultyLink(key.link(), plan: plan)
        return try await OATHService.open(CardChannel(link: link, environment: environment(at: time)))
    }

    static func account(
        _ name: String, issuer: String? = nil, secret: String = "12345678901234567890", type: OATHType = .totp,
        period: Int = 30, algorithm: OATHAlgorithm = .sha1, digits: Int = 6, needsTouch: Bool = false,
        counter: UInt32 = 0
    ) -> NewOATHAccount {
        NewOATHAccount(
            id: OATHAccountID(issuer: issuer, name: name, period: .seconds(period), type: type),
            secret: Secret(utf8: secret),
            algorithm: algorithm, digits: digits, needsTouch: needsTouch, counter: counter)
    }

    static func password(_ text: String, _ service: OATHService) async throws -> AccessKey {
        try AccessKey(password: Secret(utf8: text), salt: await service.info.salt)
    }
}

/// An environment that stands still at a time.
func environment(at time: Int64 = 59) -> ServiceEnvironment {
    ServiceEnvironment(random: CountingRandom(), clock: FixedClock(time), timeout: .seconds(5))
}
