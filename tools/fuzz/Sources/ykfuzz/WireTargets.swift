// SPDX-License-Identifier: Apache-2.0

import YKWire

extension FuzzTarget {
    static let wire: [FuzzTarget] = [
        FuzzTarget(name: "apdu") { bytes in
            guard let command = try? APDU(decoding: bytes) else { return }
            for form in [APDU.Form.short, .extended] {
                guard let encoded = try? command.encoded(form) else { continue }
                let again = try? APDU(decoding: encoded)
                require(again?.data == command.data, "a command changes its data when written and read")
            }
        },
        FuzzTarget(name: "response") { bytes in
            guard let response = try? ResponseAPDU(decoding: bytes) else { return }
            require(response.encoded == bytes, "a response changes when read and written")
            _ = response.status.description
        },
        FuzzTarget(name: "tlv") { bytes in
            guard let list = try? TLV.list(bytes) else { return }
            require((try? TLV.list(list.encoded)) == list, "data objects change when written and read")
        },
        FuzzTarget(name: "atr") { bytes in
            guard let atr = try? ATR(decoding: bytes) else { return }
            _ = (atr.saysExtendedLength, atr.looksContactless, atr.description)
        },
        FuzzTarget(name: "json") { bytes in
            guard let value = try? JSONValue(parsing: bytes) else { return }
            let again = try? JSONValue(parsing: value.text)
            require(again?.text == value.text, "JSON changes when written and read")
        },
        FuzzTarget(name: "cbor") { bytes in
            guard let item = try? CBOR(decoding: bytes) else {
                require((try? CBOR(decoding: bytes, .strict)) == nil, "CBOR is strict and not lenient")
                return
            }
            require((try? CBOR(decoding: item.encoded)) == item, "CBOR changes when written and read")
            if (try? CBOR(decoding: bytes, .strict)) != nil {
                require(item.encoded == bytes, "strict CBOR is not what is written")
            }
            _ = item.description
        },
        FuzzTarget(name: "base64") { bytes in
            guard let decoded = try? Base64.decode(String(decoding: bytes, as: UTF8.self)) else { return }
            require((try? Base64.decode(Base64.encodeURL(decoded))) == decoded, "base64 changes")
        },
    ]
}
