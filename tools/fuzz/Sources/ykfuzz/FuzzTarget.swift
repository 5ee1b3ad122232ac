// SPDX-License-Identifier: Apache-2.0

/// A decoder that must survive any input: it may throw, it must not trap, hang or eat memory.
struct FuzzTarget: Sendable {
    let name: String
    let run: @Sendable ([UInt8]) -> Void

    static let all: [FuzzTarget] =
        wire + otp + hid + remote + usb + captures + oath + hsmAuth + secrets + openPGP + secureChannel + ssh + age
        + fido
        + attestation + evidence + piv + nfc + management + relyingParties + servers + securID + approvals
        + approvalCodes + luks
}

/// Ends the process in a way that the fuzzer records as a finding.
func require(_ condition: Bool, _ reason: StaticString) {
    if !condition { fatalError("\(reason)") }
}
