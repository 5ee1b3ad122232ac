// SPDX-License-Identifier: Apache-2.0

import YKFIDO
import YKInteraction

/// By which rules a near end serves programs, and how its user is asked.
protocol NearRules: Sendable {
    /// Decides about a request.
    func decision(on request: RemoteRequest) -> RemotePolicy.Decision
    /// Notes that the user agreed to a ceremony.
    func agreed(to ceremony: Ceremony)
    /// How a U2F message is handled; `nil` for a CTAP2 message.
    func u2f(_ message: [UInt8]) -> U2FRequest.Reading?
    /// The site with a U2F application's hash, if it is known.
    func site(of application: [UInt8]) -> String?
    /// The question before the key is used for a ceremony.
    func question(about ceremony: Ceremony) -> BridgeQuestion
    /// Whether the user chooses among several accounts here; otherwise the program does.
    var choosesAccount: Bool { get }
    /// The description of the key for programs, as an answer to getInfo.
    func presented(_ info: AuthenticatorInfo) -> [UInt8]
}

/// The rules for programs on another machine.
struct RemoteRules: NearRules {
    let policy: RemotePolicy
    let host: String

    func decision(on request: RemoteRequest) -> RemotePolicy.Decision { policy.decision(on: request) }
    func question(about ceremony: Ceremony) -> BridgeQuestion { .remote(ceremony, host: host) }
    var choosesAccount: Bool { false }
    func presented(_ info: AuthenticatorInfo) -> [UInt8] { PresentedInfo.answer(info) }
}

extension NearRules {
    func agreed(to ceremony: Ceremony) {}
    func u2f(_ message: [UInt8]) -> U2FRequest.Reading? { nil }
    func site(of application: [UInt8]) -> String? { nil }
}
