// SPDX-License-Identifier: Apache-2.0

import Synchronization
import YKFIDO
package import YKInteraction
import YKProtocols

/// What programs of this machine may do with the key, by site only: which program asks is not known for certain.
///
/// Each registration, sign-in and secret is asked for, also for sites that guard secrets of this machine. Searches for
/// credentials without a touch, and the choice between keys, are not: neither signs anything of use.
package struct GuardPolicy: Hashable, Sendable {
    /// Sites that are refused without a question.
    package var refused: [NamePattern] = []
    /// Sites that are asked for once; after a yes not again until the key was given back, as it is when the screen locks.
    package var once: [NamePattern] = []
    /// How long a question waits for its answer.
    package var questionTime = Duration.seconds(30)

    /// What causes the questions: a program, which waits this long for an answer.
    package var cause: QuestionCause { .program(patience: questionTime) }

    /// Creates a policy that asks each time, for every site.
    package init() {}

    private typealias Status = CTAPProtocol.Status

    /// Decides about a request.
    package func decision(on request: RemoteRequest) -> RemotePolicy.Decision {
        switch request.action {
        case .register(let ceremony), .signIn(let ceremony):
            if isRefused(ceremony.rpID) { return .refuse(Status.operationDenied, .refusedSite) }
            return .proceed(asks: true)
        case .search(let search):
            return isRefused(search.site) ? .refuse(Status.noCredentials, .refusedSite) : .proceed(asks: false)
        case .u2f:
            guard let ceremony = request.ceremony else { return .proceed(asks: false) }
            if let site = ceremony.site, isRefused(site) { return .refuse(Status.operationDenied, .refusedSite) }
            return .proceed(asks: true)
        case .select, .next, .read, .answer: return .proceed(asks: false)
        case .forbidden(let name): return .refuse(Status.notAllowed, .command(name))
        }
    }

    private func isRefused(_ site: String) -> Bool { refused.contains { $0.matches(site) } }

    /// Whether one yes is enough for a site: never for one that guards secrets of this machine.
    func asksOnce(_ site: String) -> Bool { !RemotePolicy.isLocal(site) && once.contains { $0.matches(site) } }
}

/// The rules for programs of this machine, from the time when the key is taken until it is given back.
final class GuardRules: NearRules {
    private struct State {
        /// The sites for which the user agreed and which are asked for once.
        var agreed: Set<String> = []
        var sites: U2FSites
    }

    private let policy: GuardPolicy
    /// The names of the programs that have the device open.
    private let programs: @Sendable () -> [String]
    private let state: Mutex<State>

    /// - Parameter sites: Sites that were used before.
    init(policy: GuardPolicy, programs: @escaping @Sendable () -> [String], sites: [String]) {
        (self.policy, self.programs) = (policy, programs)
        state = Mutex(State(sites: U2FSites(sites)))
    }

    func decision(on request: RemoteRequest) -> RemotePolicy.Decision {
        let decision = policy.decision(on: request)
        guard let site = request.ceremony?.site else { return decision }
        let isAgreed = state.withLock { state in
            state.sites.add(site)
            return state.agreed.contains(site)
        }
        if case .proceed(asks: true) = decision, isAgreed { return .proceed(asks: false) }
        return decision
    }

    func agreed(to ceremony: Ceremony) {
        guard let site = ceremony.site, policy.asksOnce(site) else { return }
        _ = state.withLock { $0.agreed.insert(site) }
    }

    func question(about ceremony: Ceremony) -> BridgeQuestion { .local(ceremony, programs: programs()) }
    var choosesAccount: Bool { true }
    func presented(_ info: AuthenticatorInfo) -> [UInt8] { PresentedInfo.answer(info, isLocal: true) }

    func u2f(_ message: [UInt8]) -> U2FRequest.Reading? {
        message.first == 0 ? U2FRequest.reading(message) : nil
    }

    func site(of application: [UInt8]) -> String? { state.withLock { $0.sites[application] } }
}
