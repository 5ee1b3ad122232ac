// SPDX-License-Identifier: Apache-2.0

import Arguments
import Synchronization

/// An application of a key that has a PIN of its own.
package enum PINApplication: String, Sendable, Hashable, CaseIterable {
    case piv = "YKIT_PIV_PIN"
    case fido = "YKIT_FIDO_PIN"
    case openPGP = "YKIT_OPENPGP_PIN"
    case u2f = "YKIT_U2F_PIN"
    case secrets = "YKIT_SECRETS_PIN"

    /// The variable for the PIN of this application alone.
    package var variable: String { rawValue }
}

/// Who a PIN belongs to: one application of one key.
package struct PINOwner: Sendable, Hashable {
    package let application: PINApplication
    /// The serial number of the key; `nil` for the key that the verb uses, whatever its number.
    package let key: String?

    package init(application: PINApplication, key: String?) {
        (self.application, self.key) = (application, key)
    }

    /// Whether both may be the same owner.
    package func fits(_ other: PINOwner) -> Bool {
        application == other.application && (key == nil || other.key == nil || key == other.key)
    }
}

/// Which application of which key each given PIN was used for.
///
/// A PIN that is given once, by an option or a variable, is the PIN of one application of one key. It is never sent to
/// another, where it would be wrong and cost a try: for the other one it counts as not given.
package final class PINClaims: Sendable {
    private let owners = Mutex<[String: PINOwner]>([:])

    package init() {}

    /// Reserves `YKIT_PIN` for an application.
    package func reserve(for application: PINApplication) {
        owners.withLock { $0[PIN.name.variable] = PINOwner(application: application, key: nil) }
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
