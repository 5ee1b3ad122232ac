// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Binary arguments.
package enum BytesArgument {
    /// Decodes base64url or base64.
    package static func base64(_ text: String, _ option: String) throws(Explanation) -> [UInt8] {
        guard let bytes = try? Base64.decode(text), !bytes.isEmpty else {
            throw .usage("\(option) takes bytes in base64url, and '\(text.printable)' is not base64url")
        }
        return bytes
    }

    /// Decodes hexadecimal if the text consists of hexadecimal digits, twice `count` of them; otherwise base64url.
    package static func hexOrBase64(_ text: String, _ option: String, count: Int? = nil) throws(Explanation) -> [UInt8]
    {
        if let bytes = try? Hex.decode(text), !bytes.isEmpty, count == nil || bytes.count == count { return bytes }
        let bytes = try base64(text, option)
        if let count, bytes.count != count { throw .usage("\(option) takes \(count) bytes, got \(bytes.count)") }
        return bytes
    }
}
