// SPDX-License-Identifier: Apache-2.0

public import Arguments
import TerminalIO
import Verbs
public import YKBridge
import YKInteraction
import YKProtocols
import YKTransport

extension RemoteApplication: ExpressibleByArgument {}

/// The applications of a card at the other end.
extension RemoteVerb {
    /// Opens the card.
    func openCard(_ run: Run) async throws -> CardService { try await run.open(CardService.self) }

    /// Where the PINs come from: each is entered for one use, and its prompt says for which host. What is given by an option
    /// or `YKIT_PIN` is the PIN of the first application that asks.
    func pins(_ run: Run) -> RemotePINs {
        let broker = run.broker(
            run.given(.pivPIN, run.source(of: .piv, pin)), run.given(.openPGPUserPIN, run.source(of: .openPGP, pin)),
            cause: policy.cause)
        let (purpose, terminal) = ("unlock it for \(host.printable)", run.terminal)
        return RemotePINs { kind, tries in
            let request = CredentialRequest(
                CredentialID(kind, key: nil), to: purpose, triesLeft: tries, isForOnce: true)
            do { return try await broker.obtain(request) } catch is CancellationError { return nil } catch {
                terminal.warnNow(Explanation(error).message)
                return nil
            }
        } outcome: { kind, refusal in
            let id = CredentialID(kind, key: nil)
            if let refusal { broker.refused(id, triesLeft: refusal.triesLeft) } else { broker.accepted(id) }
        }
    }

    /// What would be allowed.
    var cardPlan: [String] {
        let names = card.map(\.title)
        return [
            "would show a reader with \(names.joined(separator: ", ")), and ask before each use of a key or code",
            "would ask for each PIN here, whatever is typed there",
            "would refuse everything that changes the card",
        ]
    }
}
