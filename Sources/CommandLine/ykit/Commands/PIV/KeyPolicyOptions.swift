// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import YKPIV

/// When a new key may be used.
struct KeyPolicyOptions: ParsableArguments {
    @Option(help: "When the key needs the PIN: default, never, once, always, match-once or match-always.")
    var pinPolicy: PINPolicy = .usual

    @Option(help: "When the key needs a touch: default, never, always or cached, which is once in 15 seconds.")
    var touchPolicy: TouchPolicy = .usual

    var policies: KeyPolicies { KeyPolicies(pin: pinPolicy, touch: touchPolicy) }
}
