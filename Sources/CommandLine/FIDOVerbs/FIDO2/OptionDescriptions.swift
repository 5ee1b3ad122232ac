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
        "uv": ("verifies its user itself", "could verify its user itself, not set up"),
        "plat": ("is a part of this machine", "roaming (not built into a machine)"),
        "clientPin": ("a PIN is set", "no PIN is set"),
        "pinUvAuthToken": ("gives permissions one by one", "gives all permissions at once"),
        "noMcGaPermissionsWithClientPin": (
            "the PIN is not for credentials", "the PIN is for credentials, too"
        ),
        "largeBlobs": ("keeps large blobs", "keeps no large blobs"),
        "ep": ("enterprise attestation is enabled", "enterprise attestation could be enabled"),
        "bioEnroll": ("fingerprints are enrolled", "fingerprints can be enrolled"),
        "userVerificationMgmtPreview": (
            "fingerprints are enrolled (preview)", "fingerprints can be enrolled (preview)"
        ),
        "uvBioEnroll": ("a fingerprint permits to enrol others", "only the PIN permits to enrol fingerprints"),
        "authnrCfg": ("can be configured", "cannot be configured"),
        "uvAcfg": ("a fingerprint permits to configure it", "only the PIN permits to configure it"),
        "credMgmt": ("lists and deletes its credentials", "does not list its credentials"),
        "perCredMgmtRO": ("issues a persistent token to list credentials", "issues no persistent token"),
        "credentialMgmtPreview": ("lists and deletes its credentials (preview)", "does not list its credentials"),
        "setMinPINLength": ("the shortest PIN can be set", "the shortest PIN cannot be set"),
        "makeCredUvNotRqd": (
            "creates non-discoverable credentials without the PIN", "makes no credential without PIN once one is set"
        ),
        "alwaysUv": ("verifies its user whatever is asked", "verifies its user when asked"),
        "makeCredUvNotRequired": ("makes credentials without PIN", "makes no credential without PIN"),
    ]
}
