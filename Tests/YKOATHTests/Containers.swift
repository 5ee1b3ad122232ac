// SPDX-License-Identifier: Apache-2.0

/// Key containers: figures 6 and 7 of RFC 6030 in the fields that matter.
enum Containers {
    /// The pre-shared key of figure 6.
    static let figure6Key: [UInt8] = [
        0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x56, 0x78, 0x90, 0x12, 0x34, 0x56, 0x78, 0x90, 0x12,
    ]

    /// Figure 6 of RFC 6030: AES-128-CBC under a pre-shared key.
    static let figure6 = #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <KeyContainer xmlns="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:ds="http://www.w3.org/2000/09/xmldsi\#
        g#" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Version="1.0">
        <EncryptionKey><ds:KeyName>Pre-shared-key</ds:KeyName></EncryptionKey>
        <MACMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"><MACKey>
        <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
        <xenc:CipherData><xenc:CipherValue>ESIzRFVmd4iZABEiM0RVZgKn6WjLaTC1sbeBMSvIhRejN9vJa2BOlSaMrR7I5wSX<\#
        /xenc:CipherValue></xenc:CipherData></MACKey></MACMethod>
        <KeyPackage><DeviceInfo><Manufacturer>Manufacturer</Manufacturer><SerialNo>987654321</SerialNo></Dev\#
        iceInfo>
        <CryptoModuleInfo><Id>CM_ID_001</Id></CryptoModuleInfo>
        <Key Id="12345678" Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp"><Issuer>Issuer</Issuer>
        <AlgorithmParameters><ResponseFormat Length="8" Encoding="DECIMAL"/></AlgorithmParameters>
        <Data><Secret><EncryptedValue>
        <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
        <xenc:CipherData><xenc:CipherValue>AAECAwQFBgcICQoLDA0OD+cIHItlB3Wra1DUpxVvOx2lef1VmNPCMl8jwZqIUqGv<\#
        /xenc:CipherValue></xenc:CipherData></EncryptedValue>
        <ValueMAC>Su+NvtQfmvfJzF6bmQiJqoLRExc=</ValueMAC></Secret>
        <Counter><PlainValue>0</PlainValue></Counter></Data></Key></KeyPackage></KeyContainer>
        """#

    /// Figure 7 of RFC 6030: the key comes from the passphrase `qwerty`.
    static let figure7 = #"""
        <?xml version="1.0" encoding="UTF-8"?>
        <pskc:KeyContainer xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:xenc11="http://www.w3.org/\#
        2009/xmlenc11#" xmlns:pkcs5="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#" xmlns:xenc\#
        ="http://www.w3.org/2001/04/xmlenc#" Version="1.0">
        <pskc:EncryptionKey><xenc11:DerivedKey>
        <xenc11:KeyDerivationMethod Algorithm="http://www.rsasecurity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pb\#
        kdf2"><pkcs5:PBKDF2-params>
        <Salt><Specified>Ej7/PEpyEpw=</Specified></Salt><IterationCount>1000</IterationCount><KeyLength>16</\#
        KeyLength><PRF/></pkcs5:PBKDF2-params></xenc11:KeyDerivationMethod>
        <xenc:ReferenceList><xenc:DataReference URI="#ED"/></xenc:ReferenceList><xenc11:MasterKeyName>My Pas\#
        sword 1</xenc11:MasterKeyName></xenc11:DerivedKey></pskc:EncryptionKey>
        <pskc:MACMethod Algorithm="http://www.w3.org/2000/09/xmldsig#hmac-sha1"><pskc:MACKey>
        <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
        <xenc:CipherData><xenc:CipherValue>2GTTnLwM3I4e5IO5FkufoOEiOhNj91fhKRQBtBJYluUDsPOLTfUvoU2dStyOwYZx<\#
        /xenc:CipherValue></xenc:CipherData></pskc:MACKey></pskc:MACMethod>
        <pskc:KeyPackage><pskc:DeviceInfo><pskc:Manufacturer>TokenVendorAcme</pskc:Manufacturer><pskc:Serial\#
        No>987654321</pskc:SerialNo></pskc:DeviceInfo>
        <pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp" Id="123456"><pskc:Issuer>Example-Issu\#
        er</pskc:Issuer>
        <pskc:AlgorithmParameters><pskc:ResponseFormat Length="8" Encoding="DECIMAL"/></pskc:AlgorithmParame\#
        ters>
        <pskc:Data><pskc:Secret><pskc:EncryptedValue Id="ED">
        <xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/>
        <xenc:CipherData><xenc:CipherValue>oTvo+S22nsmS2Z/RtcoF8Hfh+jzMe0RkiafpoDpnoZTjPYZu6V+A4aEn032yCr4f<\#
        /xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue>
        <pskc:ValueMAC>LP6xMvjtypbfT9PdkJhBZ+D6O4w=</pskc:ValueMAC></pskc:Secret></pskc:Data></pskc:Key></ps\#
        kc:KeyPackage></pskc:KeyContainer>
        """#
}
