// SPDX-License-Identifier: Apache-2.0

public import YKCrypto
public import YKTransport
public import YKWire

extension KeyboardLayout {
    /// A password of the layout's characters, uniformly distributed.
    public func password(length: Int, random: any RandomSource) throws(OTPError) -> Secret {
        guard (1...OTPSlotContent.scanCodeLimit).contains(length) else {
            throw .invalid(.length("static password", expected: 1...OTPSlotContent.scanCodeLimit, is: length))
        }
        let characters = visibleCharacters
        // Rejects bytes above the last whole multiple, which would make the first characters more likely.
        let limit = 256 - 256 % characters.count
        var text = ""
        while text.count < length {
            var bytes = try lift(OTPError.device) { () throws(LinkError) in try random.draw(64, secret: true) }
            defer { Secret.wipe(&bytes) }
            for byte in bytes where Int(byte) < limit && text.count < length {
                text.append(characters[Int(byte) % characters.count])
            }
        }
        return Secret(utf8: text)
    }
}
