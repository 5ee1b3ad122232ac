// SPDX-License-Identifier: Apache-2.0

import YKFIDO
package import YKInteraction
import YKProtocols

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
