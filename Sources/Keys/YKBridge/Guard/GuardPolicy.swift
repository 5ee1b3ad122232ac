// SPDX-License-Identifier: Apache-2.0

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
        case .select, .next, .read, .answer: return .proceed(asks: false)
        case .forbidden(let name): return .refuse(Status.notAllowed, .command(name))
        }
    }

    private func isRefused(_ site: String) -> Bool { refused.contains { $0.matches(site) } }
}

/// The rules for programs of this machine.
struct GuardRules: NearRules {
    let policy: GuardPolicy
    /// The names of the programs that have the device open.
    let programs: @Sendable () -> [String]

    func decision(on request: RemoteRequest) -> RemotePolicy.Decision { policy.decision(on: request) }
    func question(about ceremony: Ceremony) -> BridgeQuestion { .local(ceremony, programs: programs()) }
    var choosesAccount: Bool { true }
    func presented(_ info: AuthenticatorInfo) -> [UInt8] { PresentedInfo.answer(info, isLocal: true) }
}
