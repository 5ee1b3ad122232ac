// SPDX-License-Identifier: Apache-2.0

import YKTransport
import YKWire

extension FIDOAuthenticator {
    /// What the key says of itself (CTAP 2.2 §6.4).
    var info: CBOR {
        var options: CBOR.Map = [
            "rk": true, "up": true, "plat": false, "clientPin": .bool(memory.pinHash != nil), "credMgmt": true,
            "authnrCfg": true, "largeBlobs": true, "pinUvAuthToken": true, "setMinPINLength": true,
            "makeCredUvNotRqd": .bool(!memory.alwaysUV), "alwaysUv": .bool(memory.alwaysUV),
        ]
        options["ep"] = .bool(memory.enterpriseAttestation)
        let firmware = version.bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return .map([
            1: ["U2F_V2", "FIDO_2_0", "FIDO_2_1"],
            2: ["credBlob", "credProtect", "hmac-secret", "largeBlobKey", "minPinLength", "thirdPartyPayment"],
            3: .bytes(Self.aaguid), 4: .map(options), 5: .int(Int64(Self.messageLimit)), 6: [2, 1], 7: 8,
            8: 128, 9: ["usb", "nfc"],
            10: [["alg": -7, "type": "public-key"], ["alg": -8, "type": "public-key"]],
            11: .int(Int64(FIDOMemory.largeBlobLimit)), 12: .bool(memory.mustChangePIN),
            13: .unsigned(memory.minPINLength), 14: .unsigned(firmware), 15: 32, 16: 4,
            20: .int(Int64(FIDOMemory.credentialLimit - memory.credentials.count)), 22: ["packed", "none"],
        ])
    }
}
