// SPDX-License-Identifier: Apache-2.0

import Synchronization
import TerminalIO
import Verbs
import YKCrypto
import YKFIDO
import YKInteraction
import YKProtocols
import YKUse

/// The PIN of a guarded key: entered at a prompt that states the purpose, for each ceremony or after some time.
final class GuardPIN: Sendable {
    private let id = CredentialID(.fidoPIN, key: nil)
    private let broker: CredentialBroker
    private let isForOnce: Bool
    private let person: any Person
    /// Why the last ceremony had no PIN.
    private let problem = Mutex<(any Error)?>(nil)

    /// - Parameters:
    ///   - time: How long a PIN is kept, in seconds; `nil` for not at all.
    ///   - desktop: Who is asked for the use of the key.
    init(_ pin: PINOptions, keeping time: Int?, _ desktop: any Person, _ cause: QuestionCause, _ run: Run) {
        // Given when the guard was started, so that it is not sent on the last try.
        let given = run.given(.fidoPIN, run.source(of: .fidoPIN, pin), isGivenNow: false)
        let asked: any Person =
            desktop is GuardDesktop
            ? desktop : WordedCredentials(run.person.asked(because: cause), questions: [.fidoPIN: given.question])
        broker = CredentialBroker([given], person: asked, lifetime: .seconds(time ?? 0))
        (isForOnce, person) = (time == nil, run.person)
    }

    /// How the key's service asks.
    var interaction: FIDOInteraction {
        var interaction = FIDOInteraction { await self.pin($0) }
        interaction.pinOutcome = { [broker, id] error in
            if let error { broker.failed(id, error) } else { broker.accepted(id) }
        }
        return interaction
    }

    private func pin(_ asked: PINRequest) async -> SharedSecret? {
        let site = asked.rpID.map { " at \(Untrusted.site($0))" } ?? ""
        let what = asked.permissions.contains(.makeCredential) ? "create a credential" : "sign in"
        let credential = FIDOCredential(broker, id, to: "\(what)\(site)", isForOnce: isForOnce, person)
        let pin = await credential.pin(asked)
        problem.withLock { $0 = credential.problem }
        return pin
    }

    /// Forgets a PIN that is kept, and those that were refused.
    func forget() { broker.forget(id) }

    /// Why a ceremony failed, if it had no PIN; otherwise what the key says.
    func reason(for error: FIDOError) -> any Error {
        guard case .pinNeeded = error, let problem = problem.withLock({ $0 }) else { return error }
        return problem
    }
}
