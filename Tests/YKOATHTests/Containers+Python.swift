// SPDX-License-Identifier: Apache-2.0

/// What python-pskc 1.4 wrote.
extension Containers {
    /// Three keys in the clear.
    static let plain = #"""
        <?xml version="1.0" encoding="UTF-8"?><pskc:KeyContainer xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc\#
        " Version="1.0"><pskc:KeyPackage><pskc:DeviceInfo><pskc:SerialNo>123</pskc:SerialNo></pskc:DeviceInfo><p\#
        skc:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:totp" Id="k1"><pskc:Issuer>Acme</pskc:Issuer><psk\#
        c:AlgorithmParameters><pskc:Suite>HMAC-SHA256</pskc:Suite><pskc:ResponseFormat Encoding="DECIMAL" Length\#
        ="8"/></pskc:AlgorithmParameters><pskc:FriendlyName>Acme:alice@example.com</pskc:FriendlyName><pskc:Data\#
        ><pskc:Secret><pskc:PlainValue>MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=</pskc:PlainValue></pskc:Secret><pskc:TimeInt\#
        erval><pskc:PlainValue>60</pskc:PlainValue></pskc:TimeInterval></pskc:Data><pskc:UserId>CN=alice@example\#
        .com</pskc:UserId></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:DeviceInfo><pskc:SerialNo>124</psk\#
        c:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov:pskc:hotp" Id="k2"><psk\#
        c:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><pskc:ResponseFormat Encoding="DECIMAL" Length="6"/\#
        ></pskc:AlgorithmParameters><pskc:FriendlyName>bob</pskc:FriendlyName><pskc:Data><pskc:Secret><pskc:Plai\#
        nValue>YWJjZGVmZ2hpamtsbW5vcHFyc3Q=</pskc:PlainValue></pskc:Secret><pskc:Counter><pskc:PlainValue>7</psk\#
        c:PlainValue></pskc:Counter></pskc:Data></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:Key Algorith\#
        m="urn:ietf:params:xml:ns:keyprov:pskc:pin" Id="k3"><pskc:Data><pskc:Secret><pskc:PlainValue>MTIzNA==</p\#
        skc:PlainValue></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage></pskc:KeyContainer>
        """#

    /// The same keys under the passphrase `qwerty12`.
    static let pbkdf2 = #"""
        <?xml version="1.0" encoding="UTF-8"?><pskc:KeyContainer xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc\#
        " xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" Version\#
        ="1.0"><pskc:EncryptionKey><xenc11:DerivedKey><xenc11:KeyDerivationMethod Algorithm="http://www.rsasecur\#
        ity.com/rsalabs/pkcs/schemas/pkcs-5v2-0#pbkdf2"><xenc11:PBKDF2-params><Salt><Specified>KnVQX9E+UqWA2Mli5\#
        gdT1A==</Specified></Salt><IterationCount>100000</IterationCount><KeyLength>16</KeyLength></xenc11:PBKDF\#
        2-params></xenc11:KeyDerivationMethod></xenc11:DerivedKey></pskc:EncryptionKey><pskc:MACMethod Algorithm\#
        ="http://www.w3.org/2000/09/xmldsig#hmac-sha1"><pskc:MACKey><xenc:EncryptionMethod Algorithm="http://www\#
        .w3.org/2001/04/xmlenc#aes128-cbc"/><xenc:CipherData><xenc:CipherValue>WdJYby18Xq1XonLHinU63W3vRvaddJIb+\#
        64d0NaKHI/Q5mKpHdiEg0bS6py6+rQM</xenc:CipherValue></xenc:CipherData></pskc:MACKey></pskc:MACMethod><pskc\#
        :KeyPackage><pskc:DeviceInfo><pskc:SerialNo>123</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="ur\#
        n:ietf:params:xml:ns:keyprov:pskc:totp" Id="k1"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters\#
        ><pskc:Suite>HMAC-SHA256</pskc:Suite><pskc:ResponseFormat Encoding="DECIMAL" Length="8"/></pskc:Algorith\#
        mParameters><pskc:FriendlyName>Acme:alice@example.com</pskc:FriendlyName><pskc:Data><pskc:Secret><pskc:E\#
        ncryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><xenc:Ciph\#
        erData><xenc:CipherValue>TPIR7G69cLghWGdi/uXCW9xOU2xNhpMRyDfOTw6QADOYX1A0oKM/kN2JwN8ui+ur</xenc:CipherVa\#
        lue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>8WeDmVczSObU12Qes0RtKvRVUmU=</pskc:ValueMAC><\#
        /pskc:Secret><pskc:TimeInterval><pskc:PlainValue>60</pskc:PlainValue></pskc:TimeInterval></pskc:Data><ps\#
        kc:UserId>CN=alice@example.com</pskc:UserId></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:DeviceIn\#
        fo><pskc:SerialNo>124</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:ietf:params:xml:ns:keypr\#
        ov:pskc:hotp" Id="k2"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><pskc:ResponseFormat Enco\#
        ding="DECIMAL" Length="6"/></pskc:AlgorithmParameters><pskc:FriendlyName>bob</pskc:FriendlyName><pskc:Da\#
        ta><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#\#
        aes128-cbc"/><xenc:CipherData><xenc:CipherValue>/wAPa/u9t5ELFHmGNgkkEx2YniSgOdvFpl4ggeYxXK1foyV/jTqkzp5Q\#
        wid+X69i</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>i3z6VTPCemzXW6hS8ARKyr\#
        UFoDA=</pskc:ValueMAC></pskc:Secret><pskc:Counter><pskc:PlainValue>7</pskc:PlainValue></pskc:Counter></p\#
        skc:Data></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:Key Algorithm="urn:ietf:params:xml:ns:keypr\#
        ov:pskc:pin" Id="k3"><pskc:Data><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http\#
        ://www.w3.org/2001/04/xmlenc#aes128-cbc"/><xenc:CipherData><xenc:CipherValue>TA8jzyevKbPMOX1faitmHLBZJZ/\#
        ckEBBJg1tNSsNeGk=</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>CAN6GeSX/ybgx\#
        k4CijOBShsOmAk=</pskc:ValueMAC></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage></pskc:KeyContaine\#
        r>
        """#

    /// The same keys under the bytes 0 to 15.
    static let aes128 = #"""
        <?xml version="1.0" encoding="UTF-8"?><pskc:KeyContainer xmlns:ds="http://www.w3.org/2000/09/xmldsig#" x\#
        mlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Version="\#
        1.0"><pskc:EncryptionKey><ds:KeyName>shared</ds:KeyName></pskc:EncryptionKey><pskc:MACMethod Algorithm="\#
        http://www.w3.org/2000/09/xmldsig#hmac-sha1"><pskc:MACKey><xenc:EncryptionMethod Algorithm="http://www.w\#
        3.org/2001/04/xmlenc#aes128-cbc"/><xenc:CipherData><xenc:CipherValue>z7489BeTqUzSRSKc2GtyyTNxNEYfjqN9V9Z\#
        lAYUrzaouIbqYjSHAQeZNIrt49zXQ</xenc:CipherValue></xenc:CipherData></pskc:MACKey></pskc:MACMethod><pskc:K\#
        eyPackage><pskc:DeviceInfo><pskc:SerialNo>123</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:\#
        ietf:params:xml:ns:keyprov:pskc:totp" Id="k1"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><\#
        pskc:Suite>HMAC-SHA256</pskc:Suite><pskc:ResponseFormat Encoding="DECIMAL" Length="8"/></pskc:AlgorithmP\#
        arameters><pskc:FriendlyName>Acme:alice@example.com</pskc:FriendlyName><pskc:Data><pskc:Secret><pskc:Enc\#
        ryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes128-cbc"/><xenc:Cipher\#
        Data><xenc:CipherValue>9qgx+UGQneJhCQTzbKm+bR9eaZEu7Dd8ETdh4cKFqryBeXocfgXY/e6EgvY1fDBT</xenc:CipherValu\#
        e></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>qC+j7h1Ug5xaXNeoRL1BkLmJNTw=</pskc:ValueMAC></p\#
        skc:Secret><pskc:TimeInterval><pskc:PlainValue>60</pskc:PlainValue></pskc:TimeInterval></pskc:Data><pskc\#
        :UserId>CN=alice@example.com</pskc:UserId></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:DeviceInfo\#
        ><pskc:SerialNo>124</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:hotp" Id="k2"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><pskc:ResponseFormat Encodi\#
        ng="DECIMAL" Length="6"/></pskc:AlgorithmParameters><pskc:FriendlyName>bob</pskc:FriendlyName><pskc:Data\#
        ><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#ae\#
        s128-cbc"/><xenc:CipherData><xenc:CipherValue>AGfiuYL3TKkDeru1/Z/1KiqVIJeqSEH8QMVNpKuHcVIW35jgsP5vCpyC6h\#
        eY38dg</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>Vsw/jVN12ui4kqDtzME8UZgw\#
        RjI=</pskc:ValueMAC></pskc:Secret><pskc:Counter><pskc:PlainValue>7</pskc:PlainValue></pskc:Counter></psk\#
        c:Data></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:pin" Id="k3"><pskc:Data><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http:/\#
        /www.w3.org/2001/04/xmlenc#aes128-cbc"/><xenc:CipherData><xenc:CipherValue>POWFq0b7hG2x7ZShvSCQSQ6jeWBIa\#
        4BZIpYiYELN9Jw=</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>+yuCdUlrHl8QAsI\#
        WJqzUbjz3wSM=</pskc:ValueMAC></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage></pskc:KeyContainer>
        """#

    /// The same keys under the bytes 0 to 23.
    static let aes192 = #"""
        <?xml version="1.0" encoding="UTF-8"?><pskc:KeyContainer xmlns:ds="http://www.w3.org/2000/09/xmldsig#" x\#
        mlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Version="\#
        1.0"><pskc:EncryptionKey><ds:KeyName>shared</ds:KeyName></pskc:EncryptionKey><pskc:MACMethod Algorithm="\#
        http://www.w3.org/2000/09/xmldsig#hmac-sha1"><pskc:MACKey><xenc:EncryptionMethod Algorithm="http://www.w\#
        3.org/2001/04/xmlenc#aes192-cbc"/><xenc:CipherData><xenc:CipherValue>GOX5GJl2C2kot8L1RwqSegunqvLpJl8qjxo\#
        Ayf+6NDMeik6iQ8CrlZfI5+CHDffZ</xenc:CipherValue></xenc:CipherData></pskc:MACKey></pskc:MACMethod><pskc:K\#
        eyPackage><pskc:DeviceInfo><pskc:SerialNo>123</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:\#
        ietf:params:xml:ns:keyprov:pskc:totp" Id="k1"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><\#
        pskc:Suite>HMAC-SHA256</pskc:Suite><pskc:ResponseFormat Encoding="DECIMAL" Length="8"/></pskc:AlgorithmP\#
        arameters><pskc:FriendlyName>Acme:alice@example.com</pskc:FriendlyName><pskc:Data><pskc:Secret><pskc:Enc\#
        ryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes192-cbc"/><xenc:Cipher\#
        Data><xenc:CipherValue>GCHBr+OQdhmCFUkgyxFT+156ElbDahzc7dGQg/6NO9GhROGpWjWG4RF6V2jnhfAF</xenc:CipherValu\#
        e></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>6KmIQreblupIyxTnLrB5r/3NyJk=</pskc:ValueMAC></p\#
        skc:Secret><pskc:TimeInterval><pskc:PlainValue>60</pskc:PlainValue></pskc:TimeInterval></pskc:Data><pskc\#
        :UserId>CN=alice@example.com</pskc:UserId></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:DeviceInfo\#
        ><pskc:SerialNo>124</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:hotp" Id="k2"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><pskc:ResponseFormat Encodi\#
        ng="DECIMAL" Length="6"/></pskc:AlgorithmParameters><pskc:FriendlyName>bob</pskc:FriendlyName><pskc:Data\#
        ><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#ae\#
        s192-cbc"/><xenc:CipherData><xenc:CipherValue>WNQhS3LvY9IG+puQAlrQh84DftORNzhJpHyq/Qd3ZistrcXQV5U9fEGFRQ\#
        TIncYH</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>57JCULDMDznXLYyjZo4Ea4GH\#
        Pp4=</pskc:ValueMAC></pskc:Secret><pskc:Counter><pskc:PlainValue>7</pskc:PlainValue></pskc:Counter></psk\#
        c:Data></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:pin" Id="k3"><pskc:Data><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http:/\#
        /www.w3.org/2001/04/xmlenc#aes192-cbc"/><xenc:CipherData><xenc:CipherValue>UQzsJIiyWNdiVuwYqp2BOARDEjgSm\#
        focC32jVTkRjRA=</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>aSZnnQIDq7gQdb4\#
        CBD2NoFl1g+Y=</pskc:ValueMAC></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage></pskc:KeyContainer>
        """#

    /// The same keys under the bytes 0 to 31.
    static let aes256 = #"""
        <?xml version="1.0" encoding="UTF-8"?><pskc:KeyContainer xmlns:ds="http://www.w3.org/2000/09/xmldsig#" x\#
        mlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:xenc="http://www.w3.org/2001/04/xmlenc#" Version="\#
        1.0"><pskc:EncryptionKey><ds:KeyName>shared</ds:KeyName></pskc:EncryptionKey><pskc:MACMethod Algorithm="\#
        http://www.w3.org/2000/09/xmldsig#hmac-sha1"><pskc:MACKey><xenc:EncryptionMethod Algorithm="http://www.w\#
        3.org/2001/04/xmlenc#aes256-cbc"/><xenc:CipherData><xenc:CipherValue>iXEhLXLYaF7wzeuZYf8Y4bcF6gSHT6cQ1mZ\#
        IzVRz5EgOuEoLKxeXmiWTres2QVyE</xenc:CipherValue></xenc:CipherData></pskc:MACKey></pskc:MACMethod><pskc:K\#
        eyPackage><pskc:DeviceInfo><pskc:SerialNo>123</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:\#
        ietf:params:xml:ns:keyprov:pskc:totp" Id="k1"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><\#
        pskc:Suite>HMAC-SHA256</pskc:Suite><pskc:ResponseFormat Encoding="DECIMAL" Length="8"/></pskc:AlgorithmP\#
        arameters><pskc:FriendlyName>Acme:alice@example.com</pskc:FriendlyName><pskc:Data><pskc:Secret><pskc:Enc\#
        ryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/><xenc:Cipher\#
        Data><xenc:CipherValue>pooKPhLQ4/nIALDMGUP2ZDgNfyqb8fZayWq2YA7WGBLGpVol5Cx/1W8O0dzCd2L1</xenc:CipherValu\#
        e></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>gy9sDjZltSXIVdNLIk4kwwwu/pQ=</pskc:ValueMAC></p\#
        skc:Secret><pskc:TimeInterval><pskc:PlainValue>60</pskc:PlainValue></pskc:TimeInterval></pskc:Data><pskc\#
        :UserId>CN=alice@example.com</pskc:UserId></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:DeviceInfo\#
        ><pskc:SerialNo>124</pskc:SerialNo></pskc:DeviceInfo><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:hotp" Id="k2"><pskc:Issuer>Acme</pskc:Issuer><pskc:AlgorithmParameters><pskc:ResponseFormat Encodi\#
        ng="DECIMAL" Length="6"/></pskc:AlgorithmParameters><pskc:FriendlyName>bob</pskc:FriendlyName><pskc:Data\#
        ><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#ae\#
        s256-cbc"/><xenc:CipherData><xenc:CipherValue>uKb3zdYvckMFA9y0/DPUcvO+dg2/4LS83Pc1zPd5eRq3pGRnOp2cVYNStA\#
        U5hpJX</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>mvo9OoXWYw7nBrbnYlhK6DRf\#
        XBY=</pskc:ValueMAC></pskc:Secret><pskc:Counter><pskc:PlainValue>7</pskc:PlainValue></pskc:Counter></psk\#
        c:Data></pskc:Key></pskc:KeyPackage><pskc:KeyPackage><pskc:Key Algorithm="urn:ietf:params:xml:ns:keyprov\#
        :pskc:pin" Id="k3"><pskc:Data><pskc:Secret><pskc:EncryptedValue><xenc:EncryptionMethod Algorithm="http:/\#
        /www.w3.org/2001/04/xmlenc#aes256-cbc"/><xenc:CipherData><xenc:CipherValue>xOXYteY/Z6NnbzdF2xFjCNiCJcnYK\#
        qJXkHeROs2TYwE=</xenc:CipherValue></xenc:CipherData></pskc:EncryptedValue><pskc:ValueMAC>rqxAphy83dJdR8X\#
        s8RBNtr6PgFY=</pskc:ValueMAC></pskc:Secret></pskc:Data></pskc:Key></pskc:KeyPackage></pskc:KeyContainer>
        """#
}
