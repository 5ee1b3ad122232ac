// SPDX-License-Identifier: Apache-2.0

import TerminalIO

/// Describes the options of a key (CTAP 2.3 §6.4, options).
enum OptionDescriptions {
    /// The meaning of an option; empty for unknown ones.
    static func meaning(_ name: String, _ value: Bool) -> String {
        guard let words = meanings.first(where: { $0.key == name })?.value else { return "" }
        return value ? words.yes : words.no
    }

    private static let meanings: KeyValuePairs<String, (yes: String, no: String)> = [
        "rk": ("stores credentials (passkeys)", "stores no credentials"),
        "up": ("waits for a touch", "does not wait for a touch"),
        "uv": ("verifies its user itself", "can verify its user itself, once set up"),
        "plat": ("is built into this machine", "roaming (not built into a machine)"),
        "clientPin": ("a PIN is set", "no PIN is set"),
        "pinUvAuthToken": ("grants permissions one by one", "grants all permissions at once"),
        "noMcGaPermissionsWithClientPin": (
            "the PIN does not apply to credentials", "the PIN also applies to credentials"
        ),
        "largeBlobs": ("stores large blobs", "stores no large blobs"),
        "ep": ("enterprise attestation is enabled", "enterprise attestation can be enabled"),
        "bioEnroll": ("fingerprints are enrolled", "fingerprints can be enrolled"),
        "userVerificationMgmtPreview": (
            "fingerprints are enrolled (preview)", "fingerprints can be enrolled (preview)"
        ),
        "uvBioEnroll": ("a fingerprint is enough to enroll others", "enrolling fingerprints requires the PIN"),
        "authnrCfg": ("can be configured", "cannot be configured"),
        "uvAcfg": ("a fingerprint is enough to configure it", "configuring it requires the PIN"),
        "credMgmt": ("lists and deletes its credentials", "does not list its credentials"),
        "perCredMgmtRO": ("issues a persistent token to list credentials", "issues no persistent token"),
        "credentialMgmtPreview": ("lists and deletes its credentials (preview)", "does not list its credentials"),
        "setMinPINLength": ("the minimum PIN length can be set", "the minimum PIN length cannot be set"),
        "makeCredUvNotRqd": (
            "creates non-discoverable credentials without the PIN",
            "creates credentials only with the PIN, once one is set"
        ),
        "alwaysUv": ("always verifies its user", "verifies its user on request"),
        "makeCredUvNotRequired": ("creates credentials without the PIN", "creates credentials only with the PIN"),
    ]
}
