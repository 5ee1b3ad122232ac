// SPDX-License-Identifier: Apache-2.0

import YKFIDO
package import YKInteraction
import YKProtocols

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

/// The questions that a near end asks its user before the key is used, and their events.
struct NearQuestions: Sendable {
    enum Answer { case agreed, declined, withdrawn }

    private let end: NearEnd
    private let consent: Consent

    init(_ end: NearEnd) {
        self.end = end
        consent = Consent()
    }

    /// Whether the user agrees. When the task is cancelled, the question is withdrawn.
    ///
    /// - Parameters:
    ///   - asks: Whether the user is asked; `false` takes a touch of the key for consent.
    ///   - begun: Called before the question, if it may be asked.
    func answer(to ceremony: Ceremony, asks: Bool = true, begun: () -> Void = {}) async -> Answer {
        if asks, consent.isSilent {
            end.report(.refused(ceremony, .tooManyQuestions))
            return .declined
        }
        end.report(.begun(ceremony, asks: asks))
        begun()
        guard asks else { return .agreed }
        let question = end.rules.question(about: ceremony)
        guard let declined = await consent.refusal(of: question, by: end.person) else { return .agreed }
        end.report(declined == .withdrawn ? .withdrawn(ceremony) : .refused(ceremony, .declined))
        return declined == .withdrawn ? .withdrawn : .declined
    }
}

/// Decisions about the requests of a remote bridge.
extension RemotePolicy {
    /// A decision about a request.
    package enum Decision: Hashable, Sendable {
        /// It is sent to the key; if the user is asked, only after they agree.
        case proceed(asks: Bool)
        /// It is refused with this CTAP2 status.
        case refuse(UInt8, Refusal)
    }

    private typealias Status = CTAPProtocol.Status

    /// Decides about a request.
    package func decision(on request: RemoteRequest) -> Decision {
        switch request.action {
        case .register(let ceremony), .signIn(let ceremony):
            if let refusal = refusal(of: ceremony.rpID) { return .refuse(Status.operationDenied, refusal) }
            return .proceed(asks: !isAllowedAlways(ceremony.rpID))
        case .search(let search):
            return isNamed(search.site) ? .proceed(asks: false) : .refuse(Status.noCredentials, .probe)
        case .select: return .proceed(asks: true)
        case .next, .read, .answer: return .proceed(asks: false)
        case .u2f: return .refuse(Status.invalidCommand, .command("U2F"))
        case .forbidden(let name): return .refuse(Status.notAllowed, .command(name))
        }
    }
}
