// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import YKProtocols

extension CredentialKind {
    /// The variable for this credential alone: `YKIT_PIV_PIN`.
    package var variable: String {
        "YKIT_" + name.split(separator: "-").map { $0.uppercased() }.joined(separator: "_")
    }
}

/// Which PIN of which key: a PIN belongs to one application of one key.
package struct PINOwner: Sendable, Hashable {
    package let kind: CredentialKind
    /// The serial number of the key; `nil` for the key that the verb uses, whatever its number.
    package let key: String?

    package init(kind: CredentialKind, key: String?) { (self.kind, self.key) = (kind, key) }

    /// Whether both may be the same owner.
    package func fits(_ other: PINOwner) -> Bool {
        kind == other.kind && (key == nil || other.key == nil || key == other.key)
    }
}

/// Which application of which key each given PIN was used for.
///
/// A PIN that is given once, by an option or a variable, is the PIN of one application of one key. It is never sent to
/// another, where it would be wrong and cost a try: for the other one it counts as not given.
package final class PINClaims: Sendable {
    private let owners = Mutex<[String: PINOwner]>([:])

    package init() {}

    /// Reserves `YKIT_PIN` for the PIN of an application.
    package func reserve(for kind: CredentialKind) {
        owners.withLock { $0[PIN.name.variable] = PINOwner(kind: kind, key: nil) }
    }

    /// Whether an owner may use the PIN given in a place: no other owner has used it.
    package func permits(_ place: String, _ owner: PINOwner) -> Bool {
        owners.withLock { $0[place]?.fits(owner) ?? true }
    }

    /// Records that an owner uses the PIN given in a place.
    package func take(_ place: String, _ owner: PINOwner) {
        owners.withLock { if $0[place]?.key == nil { $0[place] = owner } }
    }
}
