// SPDX-License-Identifier: Apache-2.0

import YKWire

/// Bytes on the command line.
enum BytesArgument {
    /// Bytes in base64url or base 64.
    static func base64(_ text: String, _ option: String) throws(Explanation) -> [UInt8] {
        guard let bytes = try? Base64.decode(text), !bytes.isEmpty else {
            throw .usage("\(option) takes bytes in base64url, '\(text.printable)' is none")
        }
        return bytes
    }

    /// Bytes in hexadecimal when the text has only such digits and twice `count` of them, else in base64url.
    static func hexOrBase64(_ text: String, _ option: String, count: Int? = nil) throws(Explanation) -> [UInt8] {
        if let bytes = try? Hex.decode(text), !bytes.isEmpty, count == nil || bytes.count == count { return bytes }
        let bytes = try base64(text, option)
        if let count, bytes.count != count { throw .usage("\(option) takes \(count) bytes, these are \(bytes.count)") }
        return bytes
    }
}
