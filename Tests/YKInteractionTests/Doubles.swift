// SPDX-License-Identifier: Apache-2.0

import YKCrypto
import YKInteraction
import YKProtocols

/// A source with one credential for every request, or none.
struct Given: CredentialSource {
    let secret: SharedSecret?
    let isGivenNow: Bool

    init(_ text: String?, isGivenNow: Bool = true) {
        secret = text.map { SharedSecret(Secret(utf8: $0)) }
        self.isGivenNow = isGivenNow
    }

    func has(_ request: CredentialRequest) -> Bool { secret != nil }

    nonisolated(nonsending) func credential(_ request: CredentialRequest) async throws -> SharedSecret? { secret }
}

/// A key's refusal.
struct Refusal: CredentialRefusal {
    let refusedCredential: RefusedCredential?
}

/// An error that says nothing about a credential.
struct Lost: Error {}
