// SPDX-License-Identifier: Apache-2.0

extension KnownKeys {
    /// Vendor, product or *, name. Made by tools/build/generate of udev/devices.txt.
    static let table = """
        0483 a2ac ellipticSecure MIRKey
        0483 a2ca SoloKeys, early
        0483 cdab U2F on Tomu and other STM32 boards
        058b 022d Infineon FIDO
        06cb 0088 Kensington VeriMark
        096e 0850 Feitian ePass FIDO
        096e 0852 Feitian ePass or BioPass FIDO
        096e 0853 Feitian ePass or BioPass FIDO
        096e 0854 Feitian ePass or BioPass FIDO
        096e 0856 Feitian ePass or BioPass FIDO
        096e 0858 Feitian ePass or BioPass FIDO
        096e 085a Feitian MultiPass FIDO
        096e 085b Feitian ePass or BioPass FIDO
        096e 085d Feitian ePass or BioPass FIDO
        096e 0866 Feitian BioPass FIDO2 K33
        096e 0867 Feitian BioPass FIDO2 K43
        096e 0880 Hypersecu HyperFIDO
        1050 0010 YubiKey Standard, OTP
        1050 0110 YubiKey NEO, OTP
        1050 0111 YubiKey NEO, OTP and CCID
        1050 0112 YubiKey NEO, CCID
        1050 0113 YubiKey NEO, FIDO
        1050 0114 YubiKey NEO, OTP and FIDO
        1050 0115 YubiKey NEO, FIDO and CCID
        1050 0116 YubiKey NEO, OTP, FIDO and CCID
        1050 0120 Security Key by Yubico
        1050 0121 Yubico, FIDO
        1050 0200 Gnubby U2F
        1050 0401 YubiKey 4 or 5, OTP
        1050 0402 YubiKey 4 or 5, FIDO
        1050 0403 YubiKey 4 or 5, OTP and FIDO
        1050 0404 YubiKey 4 or 5, CCID
        1050 0405 YubiKey 4 or 5, OTP and CCID
        1050 0406 YubiKey 4 or 5, FIDO and CCID
        1050 0407 YubiKey 4 or 5, OTP, FIDO and CCID
        1050 0410 YubiKey Plus
        10c4 8acf U2F Zero
        1209 5070 SoloKeys Solo Hacker
        1209 50b0 SoloKeys Solo, boot loader
        1209 53c1 Trezor
        1209 beee SoloKeys Solo 2
        18d1 5026 Google Titan
        1a44 00bb VASCO SecureClick
        1d50 60fc OnlyKey
        1e0d f1ae Neowave Keydo AES
        1e0d f1d0 Neowave Keydo
        1ea8 f025 Thetis Key
        1ea8 fc25 Excelsecu FIDO2 Security Key
        1fc9 f143 GoTrust Idem Key
        20a0 4108 Nitrokey Pro
        20a0 4109 Nitrokey Storage
        20a0 4211 Nitrokey Start
        20a0 4230 Nitrokey HSM
        20a0 4287 Nitrokey FIDO U2F
        20a0 42b1 Nitrokey FIDO2
        20a0 42b2 Nitrokey 3
        20a0 42b3 Safetech SafeKey
        20a0 42d4 CanoKey
        20a0 42f3 Nitrokey Passkey
        24dc 0101 JaCarta U2F
        24dc 0501 JaCarta U2F
        2581 f1d0 Happlink Security Key
        2abe 1002 Bluink Key
        2c97 0000 Ledger Blue
        2c97 0001 Ledger Nano S, old firmware
        2c97 0004 Ledger Nano X, old firmware
        2c97 0011 Ledger Blue
        2c97 0015 Ledger Blue
        2c97 1005 Ledger Nano S
        2c97 1011 Ledger Nano S
        2c97 1015 Ledger Nano S
        2c97 4005 Ledger Nano X
        2c97 4011 Ledger Nano X
        2c97 4015 Ledger Nano X
        2c97 5005 Ledger Nano S Plus
        2c97 5011 Ledger Nano S Plus
        2c97 5015 Ledger Nano S Plus
        2c97 6005 Ledger Stax
        2c97 6011 Ledger Stax
        2c97 6015 Ledger Stax
        2ccf 0880 Hypersecu HyperFIDO
        311f 4a1a TrustKey G310
        311f 4a2a TrustKey G310H or G320H
        311f 4c2a TrustKey G320
        311f 5c2f eWBM Goldengate G500
        311f a6e9 TrustKey T120
        311f a7f9 TrustKey T110
        311f f47c eWBM Goldengate G450
        32a3 3201 GoTrust Idem Key
        349e 0010 Token2 PIN+ Mini
        349e 0011 Token2 PIN+ Mini
        349e 0012 Token2 PIN+ Mini
        349e 0013 Token2 PIN+ Mini
        349e 0014 Token2 PIN+ Mini
        349e 0015 Token2 PIN+ Mini
        349e 0016 Token2 PIN+ Mini
        349e 0020 Token2 PIN+
        349e 0021 Token2 PIN+
        349e 0022 Token2 PIN+
        349e 0023 Token2 PIN+
        349e 0024 Token2 PIN+
        349e 0025 Token2 PIN+
        349e 0026 Token2 PIN+
        349e 0200 Token2 PIN+ Bio3
        349e 0201 Token2 PIN+ Bio3
        349e 0202 Token2 PIN+ Bio3
        349e 0203 Token2 PIN+ Bio3
        349e 0204 Token2 PIN+ Bio3
        349e 0205 Token2 PIN+ Bio3
        349e 0206 Token2 PIN+ Bio3
        3752 0001 Arculus AuthentiKey
        4c4d f703 Longmai mFIDO
        534c 0001 Trezor
        """
}
